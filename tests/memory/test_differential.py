"""Two traces of one program, one in each memory, become an estimator."""

from __future__ import annotations

import pytest

from argosy.errors import BadTrace
from argosy.memory import from_traces, plan
from argosy.memory.trace import Touch, Trace, Window


def run_of(seconds: list[float], program: str = "solver") -> Trace:
    """Each window reads 60 bytes of `a` and 20 of `b`, but the last, which reads nothing."""
    touches = (Touch(object="a", bytes_read=60), Touch(object="b", bytes_written=20))
    windows = [Window(name="sweep", seconds=each, touches=touches) for each in seconds[:-1]]
    return Trace(
        program=program, sizes={"a": 600, "b": 300}, windows=(*windows, Window(name="end", seconds=seconds[-1]))
    )


def test_both_runs_are_told_as_traced_and_what_is_between_by_share_of_bytes() -> None:
    found = from_traces(run_of([1.0, 2.0, 0.5]), run_of([2.0, 4.0, 0.5]), fast_tier="ram", slow_tier="numa:1")
    assert found.predict({"a": "ram", "b": "ram"}).seconds == 3.5
    assert found.predict({"a": "numa:1", "b": "numa:1"}).seconds == 6.5
    mixed = found.predict({"a": "numa:1", "b": "ram"})
    assert mixed.seconds == pytest.approx(3.5 + 0.75 * 3)
    assert (mixed.low, mixed.high) == (3.5, 6.5)
    assert found.law == "linear"
    assert plan(found, 600).placement == {"a": "ram", "b": "numa:1"}


def test_runs_cut_into_other_windows_are_matched_by_share() -> None:
    found = from_traces(run_of([1.0, 2.0, 0.5]), run_of([1.0, 1.0, 2.0, 2.0, 0.5]), by="share")
    assert found.seconds == pytest.approx((3.5, 6.5))
    with pytest.raises(BadTrace, match="ran 2 times in one run and 4 times in the other"):
        from_traces(run_of([1.0, 2.0, 0.5]), run_of([1.0, 1.0, 2.0, 2.0, 0.5]))


def test_traces_of_other_programs_or_without_times_are_refused() -> None:
    with pytest.raises(BadTrace, match="a trace of 'other' does not go with one of 'solver'"):
        from_traces(run_of([1.0, 0.5]), run_of([1.0, 0.5], program="other"))
    with pytest.raises(BadTrace, match="without seconds"):
        from_traces(run_of([0.0, 0.0]), run_of([1.0, 0.5]))
