"""Laws of intervals."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.tree.explaining.overlap import overlapped, packed

intervals = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda pair: (min(pair), max(pair))), max_size=8
)


@settings(max_examples=60, deadline=None)
@given(intervals)
def test_what_overlaps_is_what_a_count_of_each_moment_says(spans: list[tuple[int, int]]) -> None:
    for number, found in enumerate(overlapped(spans)):
        start, end = spans[number]
        others = spans[:number] + spans[number + 1 :]
        assert found == sum(any(one <= moment < two for one, two in others) for moment in range(start, end))


@settings(max_examples=60, deadline=None)
@given(intervals)
def test_lanes_hold_no_two_at_a_time_and_are_as_few_as_can_be(spans: list[tuple[int, int]]) -> None:
    real = [(start, end + 1) for start, end in spans]
    lanes = packed(real)
    moments = range(23)
    for lane in set(lanes):
        mine = [span for span, its in zip(real, lanes, strict=True) if its == lane]
        assert all(sum(start <= moment < end for start, end in mine) <= 1 for moment in moments)
    assert len(set(lanes)) == max((sum(start <= moment < end for start, end in real) for moment in moments), default=0)
