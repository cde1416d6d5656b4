"""Each way of guessing, alone, where it should be right."""

from __future__ import annotations

import numpy as np
import pytest

from argosy.memory.learning.typical import Typical
from argosy.memory.learning.ways import (
    CLOCK,
    DISTANCES,
    LASTED,
    LEFT,
    MATCH,
    NAME,
    PLACE,
    RING,
    TYPICAL,
    WAYS,
    Ways,
)

SHARE = np.full(6, 0.3)


def lived(costs: np.ndarray, names: list[str], typical: Typical | None = None, then: str = "step") -> np.ndarray:
    """[WAYS, distances, n] after all of these windows."""
    ways = Ways(costs.shape[1], typical)
    for name, cost in zip(names, costs, strict=True):
        ways.guess(name)
        ways.see(name, cost, SHARE)
    return ways.guess(then)[0]


def test_the_order_of_last_use_tells_who_is_next_where_the_oldest_always_is() -> None:
    rng, order, rows = np.random.default_rng(0), list(range(6)), []
    for _ in range(300):
        hit = order.pop(5 if rng.random() < 0.8 else 4)
        order.insert(0, hit)
        rows.append(np.eye(6)[hit])
    guesses = lived(np.array(rows), ["step"] * 300)
    assert guesses[PLACE, 0, order[5]] == pytest.approx(0.8, abs=0.12)
    assert guesses[PLACE, 0, order[4]] == pytest.approx(0.2, abs=0.12)
    assert guesses[PLACE, 0, order[:4]].max() < 0.05


def test_how_long_a_use_has_lasted_tells_when_it_ends() -> None:
    rng, rows, which = np.random.default_rng(1), [], 0
    while len(rows) < 400:
        which = (which + int(rng.integers(1, 6))) % 6
        rows += [np.eye(6)[which]] * 4
    ends, goes_on = (lived(np.array(rows[:upto]), ["step"] * upto) for upto in (400, 399))
    assert ends[LASTED, 0, rows[399].argmax()] < 0.1
    assert goes_on[LASTED, 0, rows[398].argmax()] > 0.6


def test_what_is_left_of_a_run_is_what_was_not_spent() -> None:
    costs = np.zeros((40, 6))
    costs[:20, 0], costs[20:, 1], costs[:, 2] = 1.0, 3.0, 2.0
    typical = Typical(overall=costs.mean(axis=0), by_name={}, windows=40)
    for seen in (0, 10, 20, 39):
        left = lived(costs[:seen], ["step"] * seen, typical)[LEFT]
        assert left == pytest.approx(np.tile(costs[seen:].mean(axis=0), (len(DISTANCES), 1)))
    longer = lived(np.vstack([costs, costs]), ["step"] * 80, typical)
    assert longer[LEFT] == pytest.approx(longer[TYPICAL]), "a run that lasts longer than it should"
    assert not lived(costs, ["step"] * 40)[[LEFT, TYPICAL]].any()


def test_names_tell_what_comes_with_them_and_after_them() -> None:
    names = [f"operation {at % 3}" for at in range(90)]
    costs = np.array([np.eye(6)[at % 3] for at in range(90)])
    guesses = lived(costs, names, then="operation 0")
    for near, distance in enumerate(DISTANCES):
        assert guesses[NAME, near].argmax() == (distance - 1) % 3
        assert guesses[MATCH, near] == pytest.approx(np.eye(6)[(distance - 1) % 3])
        assert guesses[CLOCK, near] == pytest.approx(np.eye(6)[(distance - 1) % 3])


def test_there_may_be_many_names_and_a_guess_that_no_window_follows_is_forgotten() -> None:
    once, twice = Ways(6), Ways(6)
    rng = np.random.default_rng(2)
    for step in range(2 * RING):
        cost = rng.random(6) * (rng.random(6) < 0.5)
        twice.guess("another")
        for ways in (once, twice):
            ways.guess(f"name {step % 9}")
            ways.see(f"name {step % 9}", cost, SHARE)
    assert np.array_equal(once.guess("name 3")[0], twice.guess("name 3")[0])
    assert once.told([0, 2]).shape == (6, 2 * WAYS)
    assert once.told([2])[4].tolist() == once.guess("name 3")[0][:, 2, 4].tolist()
