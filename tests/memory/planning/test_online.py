"""Policies that see only the past, and the simulation that runs them."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from memory.planning.small import capacities, make_costs, moves, small_costs

from argosy.memory.costs import Costs
from argosy.memory.moves import Moves
from argosy.memory.planning.online import Hysteresis, RecentlyUsed
from argosy.memory.planning.policy import Observation, Policy
from argosy.memory.planning.simulate import simulate

MOVES = Moves(fetch_seconds_per_byte=0.1, evict_seconds_per_byte=0.05)


class Noted:
    """Asks for the same objects every time, and keeps what it was shown."""

    def __init__(self, *wanted: int) -> None:
        self.wanted = set(wanted)
        self.seen: list[Observation] = []

    def decide(self, observation: Observation) -> Set[int]:
        self.seen.append(observation)
        return self.wanted


def test_a_policy_decides_before_each_window_and_pays_for_its_moves() -> None:
    costs = make_costs([[4.0, 0.0], [1.0, 3.0]], [10, 20], order=[0, 1, 0], base=[2.0, 1.0])
    policy = Noted(0)
    run = simulate(costs, MOVES, 10, policy)
    assert run.placements.tolist() == [[False, True]] * 3
    assert run.migration_seconds == pytest.approx(1.0)
    assert run.seconds == pytest.approx(1.0 + (1.0 + 3.0) + 1.0 + 1.0)
    assert [seen.step for seen in policy.seen] == [0, 1, 2]
    assert [seen.window_name for seen in policy.seen] == ["", "w0", "w1"]
    assert [seen.next_name for seen in policy.seen] == ["w0", "w1", "w0"]
    assert [seen.resident.tolist() for seen in policy.seen] == [[False, False], [True, False], [True, False]]
    assert [seen.recent.tolist() for seen in policy.seen] == [[0.0, 0.0], [2.0, 0.0], [1.0, 3.0]]


def test_the_way_from_the_start_to_the_first_window_is_paid_for() -> None:
    costs = make_costs([[4.0, 1.0]], [10, 10], order=[0, 0])
    run = simulate(costs, MOVES, 10, Noted(1), start=np.array([False, True]))
    assert run.placements.tolist() == [[True, False], [True, False]]
    assert run.migration_seconds == pytest.approx(1.0 + 0.5)


def test_under_a_floor_an_object_costs_only_what_shows() -> None:
    costs = make_costs([[4.0, 3.0], [4.0, 3.0]], [1, 1], floor=[5.0, 5.0])
    policy = Noted()
    simulate(costs, MOVES, 2, policy)
    assert policy.seen[1].recent.tolist() == [2.0, 2.0]


def test_what_comes_later_changes_nothing_that_was_decided_before() -> None:
    rng = np.random.default_rng(3)
    past, one, other = rng.random((6, 4)) * 5, rng.random((6, 4)), rng.random((6, 4))
    for make in (RecentlyUsed, Hysteresis):
        runs = [
            simulate(make_costs([*past.tolist(), *future.tolist()], [3, 4, 5, 6]), MOVES, 9, make())
            for future in (one, other)
        ]
        assert runs[0].placements[:7].tolist() == runs[1].placements[:7].tolist()


def test_a_policy_that_asks_for_too_much_is_stopped() -> None:
    costs = make_costs([[1.0, 1.0], [1.0, 1.0]], [10, 20])
    with pytest.raises(ValueError, match=r"before window 0 \('w0'\) the policy asks for 30 bytes.*capacity is 29"):
        simulate(costs, MOVES, 29, Noted(0, 1))


@pytest.mark.parametrize("make", [RecentlyUsed, Hysteresis])
@given(costs=small_costs(most_objects=6, most_steps=12), moves=moves, capacity=capacities)
@settings(max_examples=40, deadline=None)
def test_online_policies_keep_the_capacity_and_forget_the_run_before(
    make: type[RecentlyUsed] | type[Hysteresis], costs: Costs, moves: Moves, capacity: int
) -> None:
    policy: Policy = make()
    first = simulate(costs, moves, capacity, policy)
    again = simulate(costs, moves, capacity, policy)
    assert np.all(~first.placements @ np.array(costs.sizes) <= capacity)
    assert again.placements.tolist() == first.placements.tolist()


def test_the_objects_used_last_are_fast() -> None:
    costs = make_costs([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [0, 0, 1.0]], [1, 1, 1])
    run = simulate(costs, MOVES, 2, RecentlyUsed())
    assert (~run.placements).tolist() == [
        [False, False, False],
        [True, False, False],
        [True, True, False],
        [False, True, True],
    ]


def _observed(recent: list[float], resident: list[bool], step: int = 0) -> Observation:
    return Observation(
        step=step,
        window_name="w",
        sizes=np.full(len(recent), 10, dtype=np.int64),
        resident=np.array(resident),
        recent=np.array(recent),
        capacity=10,
        moves=MOVES,
    )


def test_hysteresis_swaps_only_where_the_gain_beats_the_moves_by_its_factor() -> None:
    """A swap costs 1.5 s; the gain of 1 s a window must be more than twice that."""
    seen = _observed([1.0, 2.0], [True, False])
    assert Hysteresis(horizon_windows=2.9, factor=2.0).decide(seen) == {0}
    assert Hysteresis(horizon_windows=3.1, factor=2.0).decide(seen) == {1}


def test_hysteresis_follows_a_moving_average_and_not_one_outlier() -> None:
    policy = Hysteresis(rate=0.2, horizon_windows=4.0, factor=1.0)
    assert policy.decide(_observed([2.0, 0.0], [True, False])) == {0}
    assert policy.decide(_observed([2.0, 3.0], [True, False], step=1)) == {0}
    for step in range(2, 9):
        chosen = policy.decide(_observed([0.0, 3.0], [True, False], step=step))
    assert chosen == {1}


def test_an_observation_of_a_new_run_starts_the_average_afresh() -> None:
    policy = Hysteresis(rate=0.1, horizon_windows=4.0, factor=1.0)
    policy.decide(_observed([9.0, 0.0], [True, False]))
    fresh = _observed([0.0, 9.0], [True, False])
    assert policy.decide(replace(fresh, step=1)) == {0}
    assert policy.decide(fresh) == {1}
