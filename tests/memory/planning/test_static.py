"""One placement for the whole run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from memory.planning.small import capacities, make_costs, small_costs

from argosy.memory.costs import Costs
from argosy.memory.planning.exact import exact
from argosy.memory.planning.exhaustive import exhaustive
from argosy.memory.planning.greedy import greedy


def _seconds(costs: Costs, rows: np.ndarray) -> float:
    assert rows.shape == (1, len(costs.objects))
    return float(costs.total(rows)[0])


def _fits(costs: Costs, rows: np.ndarray, capacity: int) -> bool:
    return int(~rows[0] @ np.array(costs.sizes)) <= capacity


@given(costs=small_costs(most_objects=8), capacity=capacities)
@settings(max_examples=60, deadline=None)
def test_exact_is_as_good_as_trying_everything(costs: Costs, capacity: int) -> None:
    best = exhaustive(costs, capacity)
    found = exact(costs, capacity)
    assert _fits(costs, best.rows, capacity)
    assert _fits(costs, found.rows, capacity)
    assert _seconds(costs, found.rows) == pytest.approx(_seconds(costs, best.rows), rel=1e-7, abs=1e-7)
    assert found.bound == pytest.approx(_seconds(costs, best.rows), rel=1e-6, abs=1e-6)
    assert found.notes == ()


@given(costs=small_costs(most_objects=12), capacity=capacities)
@settings(max_examples=40, deadline=None)
def test_greedy_keeps_the_capacity_and_exact_is_never_worse(costs: Costs, capacity: int) -> None:
    rows = greedy(costs, capacity).rows
    assert _fits(costs, rows, capacity)
    assert _seconds(costs, exact(costs, capacity).rows) <= _seconds(costs, rows)


@given(scale=st.sampled_from([1e-9, 1e-6, 1.0, 1e6]), size=st.sampled_from([1, 4096, 10**9, 10**12 + 7]))
@settings(max_examples=16, deadline=None)
@example(scale=1e-9, size=10**12 + 7)
def test_exact_is_exact_for_nanoseconds_and_terabytes_too(scale: float, size: int) -> None:
    rng = np.random.default_rng(5)
    for floor in (None, [scale * 4.0] * 3):
        slow = (rng.random((3, 9)) * scale).tolist()
        costs = make_costs(slow, [int(part) * size for part in rng.integers(1, 9, 9)], floor=floor)
        for capacity in (costs.nbytes // 3, costs.nbytes // 3 * 2 - 1):
            rows = exact(costs, capacity).rows
            assert _fits(costs, rows, capacity)
            best = _seconds(costs, exhaustive(costs, capacity).rows)
            assert _seconds(costs, rows) == pytest.approx(best, rel=1e-7, abs=0)


def test_a_byte_over_the_capacity_is_over_also_where_sizes_are_huge() -> None:
    """The two largest objects together miss the capacity by one byte in 2 * 10^15."""
    size = 10**15
    costs = make_costs([[5.0, 5.0, 1.0, 1.5]], [size, size + 1, size // 2, size // 2])
    found = exact(costs, 2 * size)
    assert found.rows.tolist() == [[False, True, False, False]]
    assert found.notes == ()


def test_greedy_weighs_anew_once_a_window_has_reached_its_floor() -> None:
    """Either `a` or `b` brings the first window to its floor; the second of them would save nothing."""
    costs = make_costs([[5.0, 4.9, 0.0], [0.0, 0.0, 1.0]], [10, 10, 10], base=[1.0, 1.0], floor=[6.0, 0.0])
    assert greedy(costs, 20).rows.tolist() == [[False, True, False]]


def test_greedy_takes_the_one_large_object_that_beats_the_dense_ones() -> None:
    costs = make_costs([[1.0, 50.0]], [1, 100])
    assert greedy(costs, 100).rows.tolist() == [[True, False]]


@pytest.mark.parametrize("solve", [greedy, exact, exhaustive])
def test_an_object_that_is_better_off_in_slow_memory_stays_there(solve: object) -> None:
    costs = make_costs([[-1.0, 2.0, 0.0]], [1, 1, 1])
    assert solve(costs, 3).rows[0].tolist()[:2] == [True, False]  # type: ignore[operator]


def test_too_many_objects_for_trying_everything_are_refused() -> None:
    costs = make_costs([[1.0] * 21], [1] * 21)
    with pytest.raises(ValueError, match=r"2\^21 predictions.*solver='exact'"):
        exhaustive(costs, 5)


def test_when_the_time_is_up_the_gap_is_told() -> None:
    rng = np.random.default_rng(0)
    weights = rng.integers(10**6, 10**7, 26)
    costs = make_costs([weights.astype(float).tolist()], weights.tolist())
    found = exact(costs, int(weights.sum()) // 2, time_limit_seconds=0.0)
    assert found.bound is not None
    assert found.bound <= _seconds(costs, found.rows)
    assert _fits(costs, found.rows, int(weights.sum()) // 2)
