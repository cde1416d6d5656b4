"""Orders of samples: permutations, the same wherever they are drawn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.shuffle import global_order, local_order

_SEEDS = st.integers(-(2**63), 2**64 - 1)


@settings(max_examples=50)
@given(num_samples=st.integers(0, 500), seed=_SEEDS, epoch=st.integers(0, 1000), rank=st.integers(0, 50))
def test_an_order_holds_every_sample_once_and_is_the_same_each_time(
    num_samples: int, seed: int, epoch: int, rank: int
) -> None:
    for draw in (
        lambda: global_order(num_samples, seed=seed, epoch=epoch),
        lambda: local_order(num_samples, rank=rank, seed=seed, epoch=epoch),
    ):
        order = draw()
        assert order.dtype == np.int64
        assert np.array_equal(np.sort(order), np.arange(num_samples))
        assert np.array_equal(order, draw())


def test_seeds_epochs_and_ranks_each_have_their_own_order() -> None:
    orders = [global_order(1000, seed=seed, epoch=epoch) for seed in (0, 1, -1, 2**64 - 2) for epoch in (0, 1)]
    orders += [local_order(1000, rank=rank, seed=0, epoch=0) for rank in (0, 1, 2)]
    assert len({order.tobytes() for order in orders}) == len(orders)


def test_an_order_mixes_far_samples() -> None:
    order = global_order(100_000, seed=3, epoch=0)
    first = order[:1000]
    assert abs(first.mean() / 100_000 - 0.5) < 0.05
    assert np.mean(order == np.arange(100_000)) < 0.001


def test_the_order_does_not_change_between_releases() -> None:
    assert global_order(8, seed=1, epoch=2).tolist() == [7, 0, 5, 4, 6, 2, 3, 1]
    assert local_order(8, rank=3, seed=1, epoch=2).tolist() == [3, 1, 7, 4, 5, 0, 2, 6]


def test_loading_orders_loads_no_torch() -> None:
    code = "import sys, argosy.shuffle; argosy.shuffle.global_order; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
