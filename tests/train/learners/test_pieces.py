"""Which samples of a rank's batch go through the model together."""

from __future__ import annotations

from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st

from argosy.train.learners.pieces import Meeting, pieces_of

parts = st.lists(st.integers(1, 700), min_size=1, max_size=12)


@given(sizes=parts, meeting=st.sampled_from(["never", "may", "must"]), parts_of_each=st.integers(1, 5))
def test_pieces_hold_every_sample_once_and_none_is_empty(
    sizes: list[int], meeting: Meeting, parts_of_each: int
) -> None:
    bounds = [0, *accumulate(sizes)]
    pieces = pieces_of(bounds, meeting=meeting, accumulate=parts_of_each)
    assert pieces[0][0] == 0
    assert pieces[-1][1] == bounds[-1]
    assert all(first[1] == second[0] for first, second in pairwise(pieces))
    assert all(low < high for low, high in pieces)


@given(sizes=parts, parts_of_each=st.integers(1, 5))
def test_workers_whose_samples_must_not_meet_stay_apart(sizes: list[int], parts_of_each: int) -> None:
    bounds = [0, *accumulate(sizes)]
    for low, high in pieces_of(bounds, meeting="never", accumulate=parts_of_each):
        assert any(start <= low and high <= stop for start, stop in pairwise(bounds))


def test_small_workers_go_together_where_they_may() -> None:
    assert pieces_of(range(0, 513, 8), meeting="may", accumulate=1) == [(0, 512)]
    assert len(pieces_of(range(0, 513, 8), meeting="never", accumulate=1)) == 64
    assert len(pieces_of(range(0, 4097, 8), meeting="may", accumulate=1)) == 4
    assert len(pieces_of(range(0, 4097, 8), meeting="must", accumulate=1)) == 1
