from __future__ import annotations

import numpy as np
import pytest

from argosy.memory.learning.history import COUNT, GAPS, LAST, LONGEST, History


def test_the_last_costs_come_first_and_what_was_never_used_is_long_ago() -> None:
    history = History(2)
    assert history.columns("a").shape == (2, COUNT)
    for step in range(LAST + 5):
        history.see("a", np.array([float(step), 0.0]))
    told = history.columns("a")
    assert np.expm1(told[0, :LAST]) / 4 == pytest.approx(np.arange(LAST + 4, 4, -1))
    assert (told[1, :LAST] == 0).all()
    assert np.expm1(4 * told[1, LAST : LAST + GAPS]) == pytest.approx(np.full(GAPS, LONGEST))


def test_times_between_uses_are_told_one_by_one() -> None:
    history = History(1)
    for step in range(30):
        history.see("a", np.array([1.0 if step in (3, 5, 12, 20) else 0.0]))
    assert np.expm1(4 * history.columns("a")[0, LAST : LAST + GAPS]) == pytest.approx([8, 7, 2])


def test_how_long_a_name_has_lasted_and_whether_it_goes_on() -> None:
    history = History(3)
    for name in "aabbb":
        history.see(name, np.ones(3))
    lasted, goes_on = history.columns("b")[:, -2:].T
    assert np.expm1(4 * lasted) == pytest.approx(np.full(3, 3.0))
    assert (goes_on == 1).all()
    assert (history.columns("a")[:, -1] == 0).all()
