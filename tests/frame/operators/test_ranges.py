"""A code is in the range that its splitters say: as many of them are at or below it."""

from __future__ import annotations

import numpy as np
from frame.operators.laws import law
from hypothesis import given
from hypothesis import strategies as st

from argosy.frame.flat import NO_MASK
from argosy.frame.ranges import choose_splitters, range_buckets

LARGEST = (1 << 64) - 1
CODES = st.integers(0, LARGEST) | st.integers(0, 9) | st.integers(LARGEST - 9, LARGEST) | st.sampled_from([1 << 63])


@law(200)
@given(
    codes=st.lists(CODES, max_size=30),
    splitters=st.lists(CODES, max_size=20),
    flip=st.sampled_from([0, 1 << 63, LARGEST]),
)
def test_a_range_is_the_number_of_splitters_at_or_below_the_code(
    codes: list[int], splitters: list[int], flip: int
) -> None:
    ordered = np.array(sorted(splitters), np.uint64)
    values = np.array([code ^ flip for code in codes], np.uint64)
    buckets = range_buckets(values, np.uint64(flip), NO_MASK, ordered, 1)
    wanted = [sum(splitter <= code for splitter in splitters) for code in codes]
    assert buckets.ids.tolist() == wanted
    assert buckets.num_rows.tolist() == np.bincount(wanted, minlength=len(splitters) + 2).tolist()


@law(50)
@given(sample=st.lists(CODES, max_size=40), num_ranges=st.integers(1, 12))
def test_splitters_cut_a_sample_into_even_parts(sample: list[int], num_ranges: int) -> None:
    ordered = np.array(sorted(sample), np.uint64)
    splitters = choose_splitters(ordered, num_ranges)
    assert len(splitters) == num_ranges - 1
    assert splitters.tolist() == sorted(splitters.tolist())
    if len(set(sample)) == len(sample) and sample:
        cuts = [0, *np.searchsorted(ordered, splitters).tolist(), len(sample)]
        assert max(np.diff(cuts)) <= -(-len(sample) // num_ranges)
