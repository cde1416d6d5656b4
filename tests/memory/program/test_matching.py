"""Windows of two runs, matched."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import BadTrace
from argosy.memory.program.matching import match
from argosy.memory.trace import Touch, Trace, Window

SIZES = {"x": 100, "y": 200}
touch = st.builds(
    Touch, object=st.sampled_from("xy"), bytes_read=st.integers(0, 999), bytes_written=st.integers(0, 999),
    tier=st.sampled_from(["ram", "disk"]),
)  # fmt: skip
touches = st.lists(touch, max_size=3, unique_by=lambda t: (t.object, t.tier)).map(tuple)
window = st.builds(Window, name=st.sampled_from(["a", "b", "c"]), seconds=st.floats(0, 10), touches=touches)
full = Window(name="a", seconds=1.0, touches=(Touch(object="x", bytes_read=10, tier="ram"),))
traces = st.lists(window, max_size=8).map(lambda some: Trace(program="p", sizes=SIZES, windows=(*some, full)))


def amounts(windows):
    moved = Counter()
    for each in windows:
        for one in each.touches:
            moved[one.object, one.tier, "read"] += one.bytes_read
            moved[one.object, one.tier, "written"] += one.bytes_written
    return +moved


@settings(max_examples=60)
@given(traces)
@pytest.mark.parametrize("by", ["operation", "share"])
def test_a_trace_matched_with_itself_is_itself(by, trace):
    pairs = match(trace, trace, by=by)
    assert [pair.fast for pair in pairs] == list(trace.windows)
    assert [pair.slow for pair in pairs] == list(trace.windows)


@settings(max_examples=60)
@given(traces, traces)
def test_matching_by_share_keeps_all_seconds_and_bytes(fast, slow):
    pairs = match(fast, slow, by="share")
    assert len(pairs) == min(len(fast.windows), len(slow.windows))
    for trace, mine in ((fast, [pair.fast for pair in pairs]), (slow, [pair.slow for pair in pairs])):
        assert amounts(mine) == amounts(trace.windows)
        assert sum(each.seconds for each in mine) == pytest.approx(trace.seconds)
        assert all(each.seconds >= -1e-9 for each in mine)
        assert all(one.bytes_read >= 0 and one.bytes_written >= 0 for each in mine for one in each.touches)


@settings(max_examples=60)
@given(traces, st.randoms())
def test_matching_by_operation_keeps_the_order_within_a_name(trace, random):
    order = list(range(len(trace.windows)))
    random.shuffle(order)
    other = Trace(program="p", sizes=SIZES, windows=tuple(trace.windows[i] for i in order))
    pairs = match(trace, other)
    assert [pair.fast for pair in pairs] == list(trace.windows)
    for name in "abc":
        mine = [pair.slow for pair in pairs if pair.slow.name == name]
        assert mine == [each for each in other.windows if each.name == name]
    assert all(pair.fast.name == pair.slow.name for pair in pairs)


def run(*windows, program="p", sizes=SIZES):
    made = [Window(name=n, seconds=s, touches=(Touch(object="x", bytes_read=b),)) for n, s, b in windows]
    return Trace(program=program, sizes=sizes, windows=tuple(made))


def test_a_cut_window_gives_each_part_its_share():
    pairs = match(run(("a", 1, 50), ("b", 1, 50)), run(("q", 8, 100), ("r", 1, 50), ("s", 1, 50)), by="share")
    assert [(pair.slow.seconds, pair.slow.touches[0].bytes_read) for pair in pairs] == [(8, 100), (2, 100)]
    pairs = match(run(("a", 1, 30), ("b", 1, 70)), run(("q", 10, 100), ("r", 10, 100)), by="share")
    assert [pair.slow.touches[0].bytes_read for pair in pairs] == [60, 140]
    assert [pair.slow.seconds for pair in pairs] == pytest.approx([6, 14])


def test_a_trace_of_another_program_is_refused():
    with pytest.raises(BadTrace, match="same program"):
        match(run(("a", 1, 1)), run(("a", 1, 1), program="q"))
    with pytest.raises(BadTrace, match="objects: z"):
        match(run(("a", 1, 1)), run(("a", 1, 1), sizes=SIZES | {"z": 1}), by="share")
    with pytest.raises(BadTrace, match="'b' ran 0 times in one run and 1 times"):
        match(run(("a", 1, 1)), run(("a", 1, 1), ("b", 1, 1)))
    with pytest.raises(BadTrace, match="'a' ran 2 times"):
        match(run(("a", 1, 1), ("a", 1, 1)), run(("a", 1, 1)))


def test_an_empty_trace_and_another_way_are_refused():
    with pytest.raises(BadTrace, match="empty"):
        match(run(), run(("a", 1, 1)))
    with pytest.raises(BadTrace, match="not by 'time'"):
        match(run(("a", 1, 1)), run(("a", 1, 1)), by="time")


def test_windows_that_touched_no_byte_cannot_be_shared_out():
    with pytest.raises(BadTrace, match="touched no byte"):
        match(run(("a", 1, 0)), run(("a", 1, 0), ("b", 1, 0)), by="share")


def test_two_runs_may_differ_in_how_much_stack_they_used():
    pairs = match(run(("a", 1, 1), sizes=SIZES | {"stack": 4096}), run(("a", 2, 1), sizes=SIZES | {"stack": 8192}))
    assert pairs[0].slow.seconds == 2
