"""A trace keeps what a run touched, through Arrow and files, and one that says nothing is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import BadTrace
from argosy.memory import Trace
from argosy.memory.trace import SCHEMA, Touch, Window, check_same_program, touched

names = st.sampled_from(["a", "b", "c"])
touches = st.builds(
    Touch,
    object=names,
    bytes_read=st.integers(0, 10**12),
    bytes_written=st.integers(0, 10**12),
    tier=st.sampled_from(["ram", "disk", None]),
)
windows = st.builds(
    Window,
    name=st.sampled_from(["sweep", "solve", "größer"]),
    seconds=st.floats(0, 1e6),
    touches=st.lists(touches, max_size=3, unique_by=lambda touch: touch.object).map(tuple),
)
traces = st.builds(
    Trace,
    program=st.text(max_size=5),
    sizes=st.fixed_dictionaries({"a": st.integers(0, 99), "b": st.just(5), "c": st.just(7)}),
    windows=st.lists(windows, min_size=1, max_size=6).map(tuple),
).filter(lambda trace: any(window.touches for window in trace.windows))


@given(traces)
@settings(max_examples=60, deadline=None)
def test_a_trace_is_the_same_after_arrow(trace: Trace) -> None:
    table = trace.to_arrow()
    assert table.schema.equals(SCHEMA)
    assert Trace.from_arrow(table) == trace


def test_a_trace_is_the_same_after_a_file(tmp_path: Path) -> None:
    trace = Trace(
        program="p",
        sizes={"a": 3},
        windows=(Window(name="w", seconds=0.5, touches=(Touch(object="a", bytes_read=3),)),),
    )
    trace.save(tmp_path / "t.arrow")
    assert Trace.load(tmp_path / "t.arrow") == trace
    assert trace.objects == ("a",)
    assert trace.seconds == 0.5


def test_an_empty_trace_is_refused() -> None:
    with pytest.raises(BadTrace, match="the trace is empty"):
        Trace.from_arrow(SCHEMA.empty_table())
    with pytest.raises(BadTrace, match="no window of the trace touched an object"):
        Trace(program="", sizes={}, windows=(Window(name="w", seconds=1.0),)).check()


def test_what_is_not_a_trace_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(BadTrace, match="no column 'step', 'window'"):
        Trace.from_arrow(pa.table({"x": [1]}))
    with pytest.raises(BadTrace, match="there is no trace"):
        Trace.load(tmp_path / "none.arrow")
    (tmp_path / "text.arrow").write_text("not a trace at all")
    with pytest.raises(BadTrace, match="is not a trace"):
        Trace.load(tmp_path / "text.arrow")


def test_a_trace_of_another_program_is_not_mixed_in() -> None:
    one = Trace(program="p", sizes={"a": 1}, windows=())
    with pytest.raises(BadTrace, match="a trace of 'q' does not go with one of 'p'"):
        check_same_program(one, Trace(program="q", sizes={"a": 1}, windows=()))
    with pytest.raises(BadTrace, match="differ in their objects: a, b"):
        check_same_program(one, Trace(program="p", sizes={"a": 2, "b": 1}, windows=()))


def test_touched_bytes_add_up_over_occurrences() -> None:
    runs = [
        Window(name="w", seconds=1, touches=(Touch(object="a", bytes_read=1, bytes_written=2),)),
        Window(name="v", seconds=1),
        Window(name="w", seconds=1, touches=(Touch(object="a", bytes_read=4), Touch(object="b", bytes_written=8))),
    ]
    assert touched(runs, ("w", "v"), ("a", "b")).tolist() == [[7, 8], [0, 0]]
