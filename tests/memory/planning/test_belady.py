from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory.planning.small import best_by_trying, capacities, make_costs, moves, small_costs

from argosy.memory.costs import Costs
from argosy.memory.moves import Moves
from argosy.memory.planning.belady import belady
from argosy.memory.planning.phases import phases
from argosy.memory.planning.simulate import price


def _requests(wanted: list[int], num_objects: int) -> Costs:
    """Each window uses one object of one byte, which costs far more where it is slow than to fetch it."""
    slow = [[100.0 if o == use else 0.0 for o in range(num_objects)] for use in wanted]
    return make_costs(slow, [1] * num_objects)


FETCHES = Moves(fetch_seconds_per_byte=1.0, evict_seconds_per_byte=0.0)


@given(wanted=st.lists(st.integers(0, 4), min_size=1, max_size=14), capacity=st.integers(1, 4))
@settings(max_examples=50, deadline=None)
def test_belady_has_the_fewest_fetches_for_objects_of_one_size_and_cost(wanted: list[int], capacity: int) -> None:
    costs = _requests(wanted, 5)
    cold = np.ones(5, dtype=np.bool_)
    found = price(costs, FETCHES, belady(costs, FETCHES, capacity, start=cold).rows, start=cold)
    best = price(costs, FETCHES, phases(costs, FETCHES, capacity, start=cold).rows, start=cold)
    assert found.seconds == pytest.approx(best.seconds)


@given(wanted=st.lists(st.integers(0, 2), min_size=1, max_size=4), capacity=st.integers(1, 2))
@settings(max_examples=20, deadline=None)
def test_belady_is_as_good_as_trying_every_schedule(wanted: list[int], capacity: int) -> None:
    costs = _requests(wanted, 3)
    cold = np.ones(3, dtype=np.bool_)
    found = price(costs, FETCHES, belady(costs, FETCHES, capacity, start=cold).rows, start=cold)
    assert found.seconds == pytest.approx(best_by_trying(costs, FETCHES, capacity, cold))


@given(costs=small_costs(most_objects=6, most_steps=10), moves=moves, capacity=capacities)
@settings(max_examples=50, deadline=None)
def test_belady_keeps_the_capacity_and_never_beats_the_best_schedule(costs: Costs, moves: Moves, capacity: int) -> None:
    rows = belady(costs, moves, capacity).rows
    assert np.all(~rows @ np.array(costs.sizes) <= capacity)
    best = price(costs, moves, phases(costs, moves, capacity).rows).seconds
    assert price(costs, moves, rows).seconds >= best - 1e-9


def test_what_is_needed_last_leaves() -> None:
    rows = belady(_requests([0, 1, 2, 0, 1], 3), FETCHES, 2).rows
    assert (~rows).tolist()[2] == [True, False, True]


def test_an_object_is_passed_by_where_fetching_does_not_pay() -> None:
    costs = make_costs([[5.0, 0.0], [0.0, 1.0]], [10, 10], order=[0, 1, 0, 0])
    dear = Moves(fetch_seconds_per_byte=0.2, evict_seconds_per_byte=0.0)
    assert (~belady(costs, dear, 10).rows).tolist() == [[True, False]] * 4
