"""Schedules that are tried out on what is expected."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.memory.learning.families import TAUGHT
from argosy.memory.learning.gap import ALL, Told
from argosy.memory.learning.phases import case
from argosy.memory.learning.policy import Rehearsed
from argosy.memory.learning.prices import settle_prices
from argosy.memory.learning.rehearsal import rehearse, spent
from argosy.memory.planning.phases import phases
from argosy.memory.planning.simulate import price, simulate

Arrays = dict[str, np.ndarray]

CAPACITY = 8 * 10**12
"""Bytes: large, so that one byte too many is a small share."""


def drawn(seed: int, *, windows: int, objects: int) -> Arrays:
    """Costs, sizes, moves and a placement that fits, by chance; one object in four is too large for any room."""
    rng = np.random.default_rng(seed)
    sizes = np.where(rng.random(objects) < 0.25, CAPACITY + 1, rng.integers(1, 7, objects) * CAPACITY // 10)
    resident, room = np.zeros(objects, dtype=np.bool_), CAPACITY
    for o in rng.permutation(objects):
        if sizes[o] <= room and rng.random() < 0.7:
            resident[o], room = True, room - int(sizes[o])
    cost = rng.exponential(1.0, (windows, objects)) * (rng.random((windows, objects)) < 0.5)
    fetch, evict = rng.uniform(0.1, 2.0, objects), rng.uniform(0.1, 2.0, objects)
    return {"cost": cost, "sizes": sizes.astype(np.float64), "fetch": fetch, "evict": evict, "resident": resident}


def schedule_of(made: Arrays, before: np.ndarray | None = None) -> np.ndarray:
    cost, sizes, fetch, evict, resident = made.values()
    _, worth, _, _ = settle_prices(cost, sizes / CAPACITY, fetch, evict, resident, np.zeros(len(cost)), 0.1, 20)
    still = np.repeat(resident[None, :], len(cost), axis=0)
    return rehearse(cost, worth, sizes, fetch, evict, CAPACITY, resident, still if before is None else before)


def seconds_of(made: Arrays, schedule: np.ndarray) -> float:
    """Written anew."""
    rows = np.vstack([made["resident"], schedule])
    came, left = rows[1:] & ~rows[:-1], rows[:-1] & ~rows[1:]
    return float((made["cost"] * ~schedule).sum() + (came @ made["fetch"]).sum() + (left @ made["evict"]).sum())


@given(st.integers(0, 10_000), st.integers(1, 14), st.integers(1, 7))
@settings(max_examples=80, deadline=None)
def test_a_schedule_fits_and_is_no_worse_than_staying_or_than_what_was_planned_before(
    seed: int, windows: int, objects: int
) -> None:
    made = drawn(seed, windows=windows, objects=objects)
    other = schedule_of(drawn(seed, windows=windows, objects=objects) | {"cost": made["cost"][::-1].copy()})
    found = schedule_of(made, other)
    assert (found @ made["sizes"] <= CAPACITY).all()
    seconds = spent(made["cost"], made["fetch"], made["evict"], made["resident"], found)
    assert seconds == pytest.approx(seconds_of(made, found))
    still = np.repeat(made["resident"][None, :], windows, axis=0)
    assert seconds <= seconds_of(made, still) + 1e-9
    assert seconds <= seconds_of(made, other) + 1e-9


def test_what_is_needed_in_turns_comes_and_goes_where_moves_are_cheap_and_stays_where_they_are_dear() -> None:
    cost = np.tile([[1.0, 0.0], [0.0, 1.0]], (5, 1))
    made = {"cost": cost, "sizes": np.array([0.8, 0.8]) * CAPACITY, "fetch": np.full(2, 0.1), "evict": np.full(2, 0.1)}
    nothing = np.zeros(2, dtype=np.bool_)
    assert (schedule_of({**made, "resident": nothing}) == (cost > 0)).all()
    dear = {**made, "fetch": np.full(2, 0.6), "evict": np.full(2, 0.6), "resident": nothing}
    stays = schedule_of(dear)
    assert (stays == stays[0]).all()
    assert stays[0].sum() == 1


def test_told_the_whole_run_it_is_near_the_best_schedule_of_all() -> None:
    over = []
    for family in TAUGHT:
        one = case(family, 3, windows=40, objects=8)
        slow = np.ones(8, dtype=np.bool_)
        best = price(one.costs, one.moves, phases(one.costs, one.moves, one.capacity, start=slow).rows, start=slow)
        found = simulate(one.costs, one.moves, one.capacity, Rehearsed(Told(one.costs, ALL)))
        over.append(found.seconds / best.seconds)
    assert min(over) > 0.9999
    assert float(np.mean(over)) < 1.03
