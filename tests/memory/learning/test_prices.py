"""Prices on capacity: a bound that holds, and worths that are those of a known future."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.memory.learning.families import TAUGHT
from argosy.memory.learning.phases import case
from argosy.memory.learning.prices import Prices, bound_seconds, one_on, settle_prices
from argosy.memory.planning.belady import belady
from argosy.memory.planning.online import Hysteresis
from argosy.memory.planning.phases import phases
from argosy.memory.planning.simulate import price, simulate


@given(st.sampled_from(sorted(TAUGHT)), st.integers(0, 100))
@settings(max_examples=30, deadline=None)
def test_nobody_beats_the_bound(family: str, seed: int) -> None:
    one = case(family, seed, windows=30, objects=6)
    start = np.ones(6, dtype=np.bool_)
    bound = bound_seconds(one.costs, one.moves, one.capacity) * (1 - 1e-9)
    rows = belady(one.costs, one.moves, one.capacity, start=start).rows
    assert bound <= price(one.costs, one.moves, rows, start=start).seconds
    assert bound <= simulate(one.costs, one.moves, one.capacity, Hysteresis()).seconds
    assert bound >= one.costs.base.sum()


def test_the_bound_is_near_the_best_schedule() -> None:
    gaps = []
    for seed in range(4):
        one = case("periodic", seed, windows=16, objects=6)
        start = np.ones(6, dtype=np.bool_)
        best = phases(one.costs, one.moves, one.capacity, start=start)
        seconds = price(one.costs, one.moves, best.rows, start=start).seconds
        gaps.append(seconds / bound_seconds(one.costs, one.moves, one.capacity))
    assert min(gaps) >= 1 - 1e-9
    assert float(np.mean(gaps)) < 1.25


def test_with_room_for_all_an_object_is_worth_its_next_use_and_its_fetch() -> None:
    cost = np.array([[2.0, 0.0], [2.0, 0.0], [2.0, 0.0]])
    half, price_of = np.array([0.5, 0.5]), np.zeros(3)
    fetch, evict = np.array([0.6, 0.6]), np.array([0.4, 0.4])
    prices, worth, _, _ = settle_prices(cost, half, fetch, evict, np.zeros(2, np.bool_), price_of, 1.0, 5)
    assert prices == pytest.approx(np.zeros(3))
    assert worth[0] == pytest.approx([2.0 + 0.6, 0.0])
    assert worth[2] == pytest.approx([2.0, 0.0])  # nothing follows


def test_prices_go_on_from_those_that_were_settled_before_the_last_window() -> None:
    rng = np.random.default_rng(0)
    share, fetch, evict, nowhere = np.full(3, 0.6), np.full(3, 0.2), np.full(3, 0.1), np.zeros(3, dtype=np.bool_)
    costs, prices, now = rng.random((5, 8, 3)), Prices(), np.zeros(8)
    for cost in costs:
        step = 0.3 * cost.sum() / (share.sum() * 8)
        now, worth, _, _ = settle_prices(cost, share, fetch, evict, nowhere, np.append(now[1:], now[-1]), step, 6)
        assert prices.settle(cost, share, fetch, evict, nowhere, 6) == pytest.approx(worth)
        assert prices.now == pytest.approx(now)


def test_what_was_made_before_is_one_window_on_and_its_last_row_lasts() -> None:
    made = np.array([[1], [2], [3]])
    assert one_on(made, 4)[:, 0].tolist() == [2, 3, 3, 3]
    assert one_on(made, 1)[:, 0].tolist() == [2]
    assert one_on(made[:1], 2)[:, 0].tolist() == [1, 1]
