"""What is free is for all ranks that use the same memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from argosy.train.offload.opening import share_nbytes

places = st.tuples(st.sampled_from(["node1", "node2"]), st.sampled_from(["GPU-a", "GPU-b"]))


@given(st.lists(st.tuples(places, st.integers(0, 1 << 40)), min_size=1, max_size=9))
def test_ranks_that_share_a_device_take_no_more_together_than_any_of_them_saw_free(
    told: list[tuple[tuple[str, str], int]],
) -> None:
    shares = [share_nbytes(told, rank) for rank in range(len(told))]
    for place in {place for place, _ in told}:
        there = [rank for rank, (where, _) in enumerate(told) if where == place]
        least = min(told[rank][1] for rank in there)
        assert least - len(there) < sum(shares[rank] for rank in there) <= least


def test_four_ranks_on_one_gpu_have_a_quarter_each_and_one_with_its_own_has_all_of_it() -> None:
    one, other = ("node", "GPU-a"), ("node", "GPU-b")
    told = [(one, 80), (one, 76), (other, 90), (one, 80), (one, 80)]
    assert [share_nbytes(told, rank) for rank in range(5)] == [19, 19, 90, 19, 19]
