"""How objects have been used, held against a plain reading of the whole past."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argosy.memory.learning.habits import GAPS, LASTED_STATES, LONG, PLACE_STATES, UNKNOWN, Habits


def after(*costs: list[float]) -> Habits:
    habits = Habits(len(costs[0]))
    for cost in costs:
        habits.see(np.array(cost))
    return habits


def runs_of(used: list[bool]) -> list[tuple[bool, int]]:
    """Lengths of uses and rests, in the order of time."""
    found: list[tuple[bool, int]] = []
    for each in used:
        if found and found[-1][0] == each:
            found[-1] = (each, found[-1][1] + 1)
        else:
            found.append((each, 1))
    return found


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=40))
def test_what_it_tells_is_what_happened(past: list[list[bool]]) -> None:
    habits = after(*[[float(each) for each in row] for row in past])
    for o in range(4):
        used = [row[o] for row in past]
        uses = [at for at, each in enumerate(used) if each]
        assert habits.used[o] == used[-1]
        assert habits.since[o] == (len(past) - 1 - uses[-1] if uses else LONG + len(past))
        runs = runs_of(used)
        over = [length for is_use, length in runs[:-1] if is_use]
        assert habits.last_use[o] == (over[-1] if over else UNKNOWN)
        rests = [length for at, (is_use, length) in enumerate(runs[:-1]) if not is_use and at > 0]
        assert habits.last_rest[o] == (rests[-1] if rests else UNKNOWN)
        if uses:
            assert habits.lasted[o] == runs[-1][1]
        gaps = np.diff(uses)[::-1][:GAPS]
        assert habits.gaps[: len(gaps), o].tolist() == gaps.tolist()
    last = {o: max((at for at, row in enumerate(past) if row[o]), default=-1) for o in range(4)}
    for one in range(4):
        for other in range(4):
            if last[one] > last[other]:
                assert habits.place[one] < habits.place[other]
    assert all(habits.place[o] == 4 for o in last if last[o] < 0)
    assert ((habits.by_lasted() >= 0) & (habits.by_lasted() < LASTED_STATES)).all()


def test_places_of_many_objects_are_told_coarsely() -> None:
    habits = Habits(100)
    for o in range(100):
        habits.see(np.eye(100)[o])
    assert habits.place.tolist() == list(range(99, -1, -1))
    by_place = habits.by_place()
    assert (np.diff(by_place) <= 0).all()
    assert 0 <= by_place.min() < by_place.max() < PLACE_STATES
    assert Habits(100).by_place().max() < PLACE_STATES


def test_uses_and_rests_are_told_apart_by_how_long_they_last() -> None:
    habits = after([1, 0], [1, 0], [1, 1])
    long_use, begins = habits.by_lasted()
    assert long_use != begins
    assert (habits.by_lasted() != after([1, 1], [1, 0], [0, 0]).by_lasted()).all()


@pytest.mark.parametrize(("use", "rest"), [(1, 4), (3, 3), (5, 1)])
def test_by_the_clock_a_regular_object_is_told_to_the_window(use: int, rest: int) -> None:
    cycle = [2.0] * use + [0.0] * rest
    for seen in range(2 * (use + rest) + 1, 5 * (use + rest)):
        past = [[cycle[at % len(cycle)]] for at in range(seen)]
        told = after(*past).by_clock(30, np.array([9.0]))[:, 0]
        assert told.tolist() == [cycle[(seen + ahead) % len(cycle)] for ahead in range(30)]


def test_by_the_clock_what_has_no_rhythm_goes_on_as_it_is() -> None:
    always, never_again = [1.0, 1.0], [0.0, 3.0]
    told = after(*[[a, b, 0.0] for a, b in (always, [1.0, 0.0], never_again, *[[1.0, 0.0]] * 20)])
    by_clock = told.by_clock(48, np.array([0.5, 0.5, 0.5]))
    assert (by_clock[:, 0] == 1.0).all()
    assert (by_clock[:, 1] == 0.0).all(), "it has rested for much longer than the last time"
    assert (by_clock[:, 2] == 0.5).all(), "nothing is known of it"


def test_the_cost_of_a_use_is_that_of_the_first_and_then_follows_the_later_ones() -> None:
    assert after([4.0], [0.0]).when_used[0] == 4.0
    assert after([4.0], [0.0], [2.0]).when_used[0] == pytest.approx(4.0 - 0.4 * 2.0)
