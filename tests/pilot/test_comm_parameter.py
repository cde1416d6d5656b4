"""Tasks get their communicator wherever the parameter `comm` stands."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import argosy


def first(comm: Any, x: Any) -> tuple[int, Any]:
    return comm.allreduce(1), x


def by_name(x: Any, *, comm: Any) -> tuple[int, Any]:
    return comm.allreduce(1), x


def by_place(comm: Any, x: Any, /) -> tuple[int, Any]:
    return comm.allreduce(1), x


def decorated(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    return inner


class Solver:
    def method(self, comm: Any, x: Any) -> tuple[int, Any]:
        return comm.allreduce(1), x

    __call__ = method


class OfTasks:
    @argosy.task(ranks=2)
    def method(self, comm: Any, x: Any) -> tuple[int, Any]:
        return comm.allreduce(1), x


FUNCTIONS = [
    first, by_name, by_place, decorated(first), Solver().method, Solver(), functools.partial(first),
    functools.partial(decorated(Solver().method)), argosy.task(first), argosy.task(decorated(by_place)),
]  # fmt: skip


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_a_task_is_given_its_communicator(pilot: argosy.Pilot, fn: Callable[..., Any]) -> None:
    assert pilot.submit(fn, 5, ranks=2).results() == [(2, 5)] * 2
    assert list(pilot.map(fn, [6, 7], ranks=2)) == [(2, 6), (2, 7)]


def test_a_partial_fills_what_is_left_beside_comm(pilot: argosy.Pilot) -> None:
    assert pilot.submit(functools.partial(first, 5), ranks=2).result() == (2, 5)
    assert pilot.submit(functools.partial(first, x=5), ranks=2).result() == (2, 5)
    assert pilot.submit(functools.partial(first, 5), ranks=2).name == "first"


def test_futures_and_frames_may_stand_beside_it(pilot: argosy.Pilot) -> None:
    assert pilot.submit(first, pilot.submit(abs, -5), ranks=2).result() == (2, 5)
    kept = pilot.submit(lambda comm: comm.rank, ranks=3, keep=True)
    assert pilot.submit(first, kept).results() == [(3, 0), (3, 1), (3, 2)]
    frame = argosy.from_pydict({"a": list(range(10))}).persist()
    rows = pilot.submit(lambda comm, table: comm.allreduce(table.num_rows), frame, ranks=4)
    assert rows.results() == [10] * 4


@pytest.mark.parametrize("fn", [first, by_name, decorated(first), by_place])
def test_a_task_of_the_tree_is_given_its_communicator(pilot: argosy.Pilot, fn: Callable[..., Any]) -> None:
    on_two = argosy.task(ranks=2)(fn)
    assert on_two(5) == (2, 5)
    assert on_two.submit(5).result() == (2, 5)

    @argosy.futurize
    def program(n: int) -> Any:
        return [on_two(i) for i in range(n)]

    assert program(3) == [(2, 0), (2, 1), (2, 2)]


def test_a_method_that_is_a_task_is_given_its_communicator(pilot: argosy.Pilot) -> None:
    assert OfTasks().method(5) == (2, 5)
    assert OfTasks().method(x=5) == (2, 5)


def test_names_that_are_options_stand_beside_comm(pilot: argosy.Pilot) -> None:
    @argosy.task(ranks=2)
    def named(comm: Any, name: str, ranks: int) -> Any:
        return comm.allreduce(1), name, ranks

    assert named("a", ranks=7) == (2, "a", 7)
    assert named(name="a", ranks=7) == (2, "a", 7)


def test_a_task_that_is_given_a_communicator_by_its_caller_runs_with_that() -> None:
    class Solo:
        def allreduce(self, x: int) -> int:
            return -x

    for fn in (first, by_name, decorated(first)):
        assert argosy.task(fn)(5, comm=Solo()) == (-1, 5)


def test_what_does_not_fit_is_refused_in_the_callers_line(pilot: argosy.Pilot) -> None:
    with pytest.raises(TypeError, match=r"first\(\): missing a required argument: 'x'; it takes \(x: .*comm by itself"):
        pilot.submit(first)
    with pytest.raises(TypeError, match=r"first\(\): too many positional arguments"):
        pilot.submit(first, 1, 2)
    with pytest.raises(TypeError, match=r"first\(\) is given comm by whoever runs it.*leave comm= out"):
        pilot.submit(first, 1, comm=None)
    with pytest.raises(TypeError, match="too many positional arguments"):
        pilot.map(lambda comm: comm, [1])
    assert pilot.submit(first, 1).result() == (1, 1)
