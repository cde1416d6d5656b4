"""Expressions run in any order that is allowed, and end in program order."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree.programs.runner.compare import unruly_threads
from tree.test_pool import until

from argosy.tree import flow as flows
from argosy.tree.expression import Expression, Version
from argosy.tree.flow import Failed, Flow
from argosy.tree.pool import Pool, pool_of
from argosy.tree.regions import region_of
from argosy.tree.states import DONE, TRAPPED

POOL = pool_of(3)
ROWS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Op:
    """One step of a small program over an array: it makes a number of others, and may store it into a row."""

    number: int
    takes: tuple[int, ...] = ()
    """Steps before it whose numbers it takes."""
    reads: int = 0
    stores: int | None = None
    how: str = "plain"

    def __call__(self, array: Any, *values: float) -> float:
        made = float(sum(values) % 1000) + float(array[self.reads].sum() % 1000) + self.number
        if self.stores is not None:
            array[self.stores, 0] = made  # half of it, then what can go wrong, then the other half
        if self.how == "warns":
            warnings.warn(f"step {self.number}", stacklevel=1)
        elif self.how == "divides":
            made += float(np.isinf(np.float64(self.number + 1) / np.zeros(2)).sum())
        elif self.how == "fails":
            raise ValueError(self.number)
        if self.stores is not None:
            array[self.stores, 1:] = made
        return made


@st.composite
def programs(draw: st.DrawFn) -> list[Op]:
    hows = st.sampled_from(["plain"] * 6 + ["warns", "divides", "fails"])
    return [
        Op(
            number=number,
            takes=tuple(draw(st.lists(st.integers(0, number - 1), max_size=3))) if number else (),
            reads=draw(st.integers(0, ROWS - 1)),
            stores=draw(st.none() | st.integers(0, ROWS - 1)),
            how=draw(hows),
        )
        for number in range(draw(st.integers(1, 14)))
    ]


def expression(flow: Flow, function: Any, *inputs: Version) -> Expression:
    """What the walk would make of a function of values that it knows nothing about."""
    flow.seq += 1
    plan = SimpleNamespace(
        took=lambda _seconds: None,
        was_held_up=lambda: None,
        effects=SimpleNamespace(states=()),
        piece=SimpleNamespace(function=lambda: function),
    )
    made = Expression(flow.seq, plan, function, list(inputs))
    made.outs = (Version(None, maker=made),)
    return made


def issued(flow: Flow, op: Op, array: Version, made: list[Version], in_place: bool = False) -> Expression:
    one = expression(flow, op, array, *[made[number] for number in op.takes])
    token = flow.memory.token_of(array.value)
    assert token is not None
    touches = [(False, region_of(array.value, op.reads))]
    if op.stores is not None:
        touches.append((True, region_of(array.value, op.stores)))
        one.writes = True
        one.saves = [(array, op.stores, False)]
    makers = [made[number].maker for number in op.takes]
    before = [maker for maker in makers if maker is not None]
    for writes, region in touches:
        before += token.waits_for(writes, region)
    for writes, region in touches:
        token.add(one, writes, region)
    made.append(one.outs[0])
    flow.issue(one, before, in_place)
    return one


def ran_plainly(ops: list[Op]) -> tuple[Any, ...]:
    array = np.zeros((ROWS, 3))
    made: list[float] = []
    error = None
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        try:
            for op in ops:
                made.append(op(array, *[made[number] for number in op.takes]))
        except ValueError as failed:
            error = failed.args
    return error, array.tolist(), [] if error else made, [str(message.message) for message in shown]


def ran_in_flow(ops: list[Op], in_place: set[int], pool: Pool) -> tuple[Any, ...]:
    array = np.zeros((ROWS, 3))
    flow, version, made = Flow(pool), Version(array), []  # type: ignore[var-annotated]
    error = None
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        try:
            for op in ops:
                issued(flow, op, version, made, op.number in in_place)
            flow.drain()
        except Failed as failed:
            error = failed.error.args
        assert flow.idle
    values = [] if error else [version.value for version in made]
    return error, array.tolist(), values, [str(message.message) for message in shown]


@settings(max_examples=60, deadline=None)
@given(programs(), st.sets(st.integers(0, 13), max_size=4), st.sampled_from([1, 2, 4]), st.integers(0, 99))
def test_a_small_program_leaves_what_it_leaves_step_by_step(
    ops: list[Op], in_place: set[int], threads: int, seed: int
) -> None:
    with unruly_threads(seed):
        assert ran_in_flow(ops, in_place, pool_of(threads)) == ran_plainly(ops)


def test_a_long_program_does_not_run_away_from_its_front(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flows, "_MOST_UNDER_WAY", 8)
    most = 0
    flow, version, made = Flow(POOL), Version(np.zeros((ROWS, 3))), []  # type: ignore[var-annotated]
    ops = [
        Op(number=number, takes=(max(0, number - 1),) if number else (), stores=number % ROWS) for number in range(90)
    ]
    for op in ops:
        issued(flow, op, version, made)
        most = max(most, len(flow._order))
    flow.drain()
    assert most <= 4 * (POOL.num_threads + 1)
    assert [v.value for v in made] == ran_plainly(ops)[2]


def test_of_two_failures_the_first_in_program_order_counts_though_it_comes_later() -> None:
    flow = Flow(POOL)
    second_failed = threading.Event()

    def first() -> None:
        assert second_failed.wait(30)
        raise KeyError("first")

    def second() -> None:
        second_failed.set()
        raise ValueError("second")

    flow.issue(expression(flow, first), (), False)
    flow.issue(expression(flow, second), (), False)
    with pytest.raises(Failed) as failed:
        flow.drain()
    assert failed.value.error.args == ("first",)


def test_what_ran_after_a_failure_is_taken_back_and_the_rest_never_runs() -> None:
    flow, array, ran = Flow(POOL), np.zeros(3), []
    stored = threading.Event()

    def fails() -> None:
        assert stored.wait(30)
        raise ValueError("no")

    def stores(into: Any) -> None:
        into[:] = 7
        stored.set()

    first = expression(flow, fails)
    second = expression(flow, stores, Version(array))
    second.writes, second.saves = True, [(Version(array), None, False)]
    third = expression(flow, lambda: ran.append(1))
    flow.issue(first, (), False)
    flow.issue(second, (), False)
    flow.issue(third, [first], False)
    with pytest.raises(Failed):
        flow.wait_for(third)
    assert array.tolist() == [0, 0, 0]
    assert ran == []
    assert flow.idle


def test_a_step_that_meets_a_floating_point_error_runs_again_in_the_callers_thread_in_its_turn() -> None:
    flow = Flow(POOL)
    go, ran = threading.Event(), []

    def divides(array: Any) -> Any:
        ran.append((threading.get_ident(), first.state == DONE))
        return array / 0

    first = expression(flow, lambda: go.wait(30))
    flow.issue(first, (), False)
    second = expression(flow, divides, Version(np.ones(2)))
    third = expression(flow, lambda x: x * 2, second.outs[0])
    flow.issue(second, (), False)
    flow.issue(third, [second], False)
    until(lambda: second.state == TRAPPED)
    go.set()
    made = third.outs[0]
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        flow.drain()
    assert made.value.tolist() == [np.inf, np.inf]
    assert len(ran) == 2
    assert ran[1] == (threading.get_ident(), True)


def test_floating_point_errors_that_the_user_ignores_are_not_trapped() -> None:
    ran: list[int] = []

    def divides(array: Any) -> Any:
        ran.append(1)
        return array / 0

    with np.errstate(all="ignore"):
        flow = Flow(POOL)
        one = expression(flow, divides, Version(np.ones(2)))
        made = one.outs[0]
        flow.issue(one, (), False)
        flow.drain()
    assert ran == [1]
    assert made.value.tolist() == [np.inf, np.inf]


def test_cancel_keeps_what_ended_in_order_and_takes_back_the_rest() -> None:
    flow, array = Flow(POOL), np.zeros(4)
    version = Version(array)
    at_two, three_stored = threading.Event(), threading.Event()

    def store(into: Any, at: int) -> None:
        into[at] = at + 1
        if at == 3:
            three_stored.set()

    def stuck(into: Any, at: int) -> None:
        at_two.set()
        assert three_stored.wait(30)
        store(into, at)
        raise ValueError("its own stores stay, as in plain Python")

    for at in range(4):
        one = expression(flow, stuck if at == 2 else store, version, Version(at))
        one.writes, one.saves = True, [(version, at, False)]
        flow.issue(one, (), False)
    assert at_two.wait(30)
    assert three_stored.wait(30)
    flow.cancel()
    assert array.tolist() == [1, 2, 3, 0]
    assert flow.idle


def test_values_are_let_go_when_nobody_needs_them() -> None:
    flow = Flow(POOL)
    one = expression(flow, lambda: 5)
    made = one.outs[0]
    flow.issue(one, (), False)
    flow.drain()
    assert made.value == 5
    assert made.ready
    assert made.maker is None
    assert one.inputs == one.outs == ()
