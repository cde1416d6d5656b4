"""What is learnt of a piece as it runs: how long it takes, and whether it is better left alone."""

from __future__ import annotations

from types import SimpleNamespace

from argosy.tree.contention import Look
from argosy.tree.plan import Plan


def plan() -> Plan:
    return Plan(SimpleNamespace(cuts=[]), (), None, None)


def test_the_first_time_is_taken_as_it_is_and_later_ones_move_the_mean() -> None:
    one = plan()
    one.took(2.0)
    assert one.seconds == 2.0
    one.took(4.0)
    assert 2.0 < one.seconds < 4.0
    assert (one.count, one.total) == (2, 6.0)


def test_what_was_held_up_twice_runs_alone_and_is_tried_again_some_time_later() -> None:
    one = plan()
    one.count = 1
    one.was_held_up()
    assert not one.runs_alone()
    one.was_held_up()
    assert one.runs_alone()
    one.count = 100
    assert not one.runs_alone()
    one.was_held_up()
    one.count = 101
    assert one.runs_alone()


def test_what_is_over_at_once_was_not_held_up() -> None:
    assert not Look().held_up()
