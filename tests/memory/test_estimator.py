"""An estimator predicts what its costs say, with an interval, as fast as a matrix product, and survives a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory.made_up import costs_of, measured_from

from argosy.errors import BadTrace, UnknownObject
from argosy.memory import Estimator
from argosy.memory.calibrating import Calibrated
from argosy.memory.costs import density
from argosy.memory.designs import all_rows, design_rows, held_out_rows
from argosy.memory.moves import Moves
from argosy.memory.placement import as_placement

MOVES = Moves(fetch_seconds_per_byte=1e-9, evict_seconds_per_byte=2e-9)


def estimator(seed: int = 0, *, design: str = "random", law: str = "auto", floors: bool = False) -> Estimator:
    truth, moved = costs_of(6, 3, seed, floors=floors)
    measured = measured_from(truth, moved, design_rows(design, 6, placements=24), noise=0.02, repeats=5, seed=seed)
    return Calibrated(measured=measured, moves=MOVES, fast="ram", slow="disk").estimator(law)


@given(st.integers(0, 1000), st.sampled_from(["linear", "additive", "hinge"]))
@settings(max_examples=20, deadline=None)
def test_one_prediction_and_many_are_the_same(seed: int, law: str) -> None:
    found = estimator(seed, law=law, floors=True)
    rows = held_out_rows(found.measured, 10, seed=seed)
    many = found.predict_many(rows)
    for row, seconds in zip(rows, many, strict=True):
        one = found.predict(as_placement(row, found.objects, fast="ram", slow="disk"))
        assert one.seconds == pytest.approx(seconds)
        assert 0 <= one.low <= one.seconds <= one.high


@given(
    st.integers(0, 1000),
    st.sampled_from(["linear", "additive", "hinge"]),
    st.sampled_from(["endpoints", "one-at-a-time", "random"]),
)
@settings(max_examples=40, deadline=None)
def test_both_ends_are_predicted_as_measured(seed: int, law: str, design: str) -> None:
    found = estimator(seed, law=law, design=design, floors=True)
    assert found.predict(dict.fromkeys(found.objects, "ram")).seconds == found.seconds[0]
    assert found.predict(dict.fromkeys(found.objects, "disk")).seconds == found.seconds[1]
    assert found.predict_many(found.measured[:2]).tolist() == list(found.seconds[:2])


def test_intervals_hold_most_of_what_is_measured_later() -> None:
    inside = []
    for seed in range(12):
        truth, moved = costs_of(6, 3, seed)
        found = estimator(seed)
        rows = held_out_rows(found.measured, 30, seed=seed)
        later = measured_from(truth, moved, rows, noise=0.02, repeats=5, seed=seed + 100).totals
        for row, seconds in zip(rows, later, strict=True):
            one = found.predict(as_placement(row, found.objects, fast="ram", slow="disk"))
            inside.append(one.low <= seconds <= one.high)
    assert np.mean(inside) >= 0.85


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_with_two_runs_the_interval_admits_that_any_object_may_matter(seed: int) -> None:
    truth, moved = costs_of(6, 3, seed)
    measured = measured_from(truth, moved, design_rows("endpoints", 6))
    found = Calibrated(measured=measured, moves=MOVES, fast="ram", slow="disk").estimator()
    assert found.errors == {}
    for row in all_rows(6):
        one = found.predict(as_placement(row, found.objects, fast="ram", slow="disk"))
        indifferent = 0.03 * truth.total(np.ones((1, 6), dtype=np.bool_))[0]
        assert one.low - indifferent <= truth.total(row[None])[0] <= one.high + indifferent
    ends = found.predict(dict.fromkeys(found.objects, "disk"))
    assert ends.high - ends.low <= 0.03 * ends.seconds


@pytest.mark.parametrize("law", ["linear", "additive", "hinge"])
def test_a_saved_estimator_is_the_same_when_it_is_loaded(tmp_path: Path, law: str) -> None:
    found = estimator(3, law=law, floors=True)
    found.save(tmp_path / "e.json")
    again = Estimator.load(tmp_path / "e.json")
    rows = all_rows(6)
    assert np.array_equal(again.predict_many(rows), found.predict_many(rows))
    assert np.array_equal(again.measured, found.measured)
    assert (again.law, again.program, again.moves, again.noise, again.spread, again.errors, again.sizes) == (
        found.law, found.program, found.moves, found.noise, found.spread, found.errors, found.sizes,
    )  # fmt: skip


@pytest.mark.parametrize("text", ["", "[1, 2]", '{"format": "something else"}', '{"law": "linear"}'])
def test_a_file_that_is_not_an_estimator_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "e.json").write_text(text)
    with pytest.raises(BadTrace, match="is not an estimator"):
        Estimator.load(tmp_path / "e.json")
    with pytest.raises(BadTrace, match="there is no estimator"):
        Estimator.load(tmp_path / "other.json")


def test_a_placement_must_name_every_object_and_a_tier_that_is_there() -> None:
    found = estimator()
    with pytest.raises(ValueError, match="does not say where o1, o2"):
        found.predict({"o0": "ram"})
    with pytest.raises(UnknownObject, match="no object 'p0'; there are: o0, o1"):
        found.predict({"p0": "ram"})
    with pytest.raises(ValueError, match="'o0' is placed in 'tape', but the tiers are 'ram' and 'disk'"):
        found.predict(dict.fromkeys(found.objects, "tape"))
    with pytest.raises(ValueError, match="rows of 6 objects"):
        found.predict_many(np.zeros((3, 5), dtype=np.bool_))


@given(st.integers(0, 1000), st.floats(0.5, 3), st.floats(0.5, 3))
@settings(max_examples=30, deadline=None)
def test_an_anchored_estimator_follows_a_machine_that_has_drifted(seed: int, base: float, slow: float) -> None:
    truth, moved = costs_of(5, 3, seed)
    later = truth.scaled(base=base, slow=slow)
    measured = measured_from(truth, moved, design_rows("random", 5, placements=15, seed=seed))
    found = Calibrated(measured=measured, moves=MOVES, fast="ram", slow="disk").estimator("additive")
    rows = all_rows(5)
    for again in (found.measured, found.measured[:2]):
        anchored = found.anchored(again, later.total(again))
        assert anchored.predict_many(rows) == pytest.approx(later.total(rows), rel=0.03)


def test_costs_of_occurrences_add_up_to_those_of_the_run() -> None:
    truth, _ = costs_of(4, 2, seed=2, floors=True)
    repeated = type(truth)(
        objects=truth.objects,
        sizes=truth.sizes,
        windows=truth.windows,
        order=(0, 1, 0, 0, 2),
        floor=truth.floor,
        base=truth.base,
        slow=truth.slow,
    )
    rows = all_rows(4)
    each = repeated.per_occurrence()
    assert each.windows == ("w0", "w1", "w0", "w0", truth.windows[2])
    assert each.total(rows) == pytest.approx(repeated.total(rows))


def test_an_object_that_costs_more_per_byte_is_denser() -> None:
    truth, _ = costs_of(3, 1, seed=0)
    truth.slow[0] = [1.0, 2.0, 0.0]
    rebuilt = type(truth)(
        objects=truth.objects,
        sizes=(10, 10, 10),
        windows=truth.windows,
        order=truth.order,
        floor=truth.floor,
        base=truth.base,
        slow=truth.slow,
    )
    assert density(rebuilt).tolist() == pytest.approx([0.1, 0.2, 0.0])
