from __future__ import annotations

import numpy as np
import pytest

from argosy.memory.learning.habits import GAPS, LONG, Habits
from argosy.memory.learning.history import COUNT, LAST, History


def told(costs: np.ndarray, names: str, next_name: str) -> np.ndarray:
    history, habits = History(costs.shape[1]), Habits(costs.shape[1])
    for name, cost in zip(names, costs, strict=True):
        history.see(name, cost)
        habits.see(cost)
    return history.columns(next_name, habits)


def test_the_last_costs_come_first_and_what_was_never_used_is_long_ago() -> None:
    steps = LAST + 5
    columns = told(np.stack([np.arange(steps), np.zeros(steps)], axis=1), "a" * steps, "a")
    assert columns.shape == (2, COUNT)
    assert np.expm1(columns[0, :LAST]) / 4 == pytest.approx(np.arange(LAST + 4, 4, -1))
    assert (columns[1, :LAST] == 0).all()
    assert np.expm1(4 * columns[1, LAST : LAST + GAPS]) == pytest.approx(np.full(GAPS, LONG))


def test_times_between_uses_and_lengths_are_told_one_by_one() -> None:
    costs = np.array([[1.0 if step in (3, 5, 12, 20, 21) else 0.0] for step in range(30)])
    lengths = np.expm1(4 * told(costs, "a" * 30, "a")[0, LAST : LAST + GAPS + 3])
    assert lengths == pytest.approx([1, 8, 7, 8, 2, 7])


def test_how_long_a_name_has_lasted_and_whether_it_goes_on() -> None:
    lasted, goes_on = told(np.ones((5, 3)), "aabbb", "b")[:, -2:].T
    assert np.expm1(4 * lasted) == pytest.approx(np.full(3, 3.0))
    assert (goes_on == 1).all()
    assert (told(np.ones((5, 3)), "aabbb", "a")[:, -1] == 0).all()
