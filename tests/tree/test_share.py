"""Parts of one expression on all threads: each once, errors and warnings as if in order."""

from __future__ import annotations

import contextvars
import threading
import warnings

import numpy as np
import pytest
from tree.programs.runner.compare import unruly_threads

from argosy.tree.inside import here
from argosy.tree.pool import pool_of
from argosy.tree.share import Shared

POOL = pool_of(4)


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("num_parts", [0, 1, 2, 7, 300])
def test_each_part_is_worked_on_once_and_all_have_ended(num_parts: int, beside: bool) -> None:
    done: list[int] = []
    shared = Shared(num_parts, done.append)
    with unruly_threads(num_parts):
        shared.run(POOL, beside=beside)
    assert sorted(done) == list(range(num_parts))
    assert shared.error is None


def test_parts_without_other_threads_run_here_in_order() -> None:
    done: list[tuple[int, int]] = []
    Shared(5, lambda part: done.append((part, threading.get_ident()))).run(pool_of(1))
    assert done == [(part, threading.get_ident()) for part in range(5)]


def test_parts_that_wait_all_wait_at_the_same_time() -> None:
    together = threading.Barrier(20)
    seen: list[int] = []
    Shared(20, lambda _part: seen.append(together.wait(30))).run(pool_of(1), beside=True)
    assert sorted(seen) == list(range(20))


def test_nobody_works_on_a_part_any_more_when_run_returns_also_after_an_error() -> None:
    busy: set[int] = set()

    def work(part: int) -> None:
        busy.add(part)
        np.sort(np.random.default_rng(part).random(2000))
        busy.discard(part)
        if part % 3 == 2:
            raise ValueError(part)

    for seed in range(10):
        shared = Shared(12, work)
        with unruly_threads(seed):
            shared.run(POOL)
        assert busy == set()
        assert isinstance(shared.error, ValueError)


def test_after_an_error_no_new_part_is_begun() -> None:
    begun: list[int] = []

    def work(part: int) -> None:
        begun.append(part)
        raise KeyError(part)

    shared = Shared(1000, work)
    shared.run(POOL)
    assert len(begun) <= 4
    assert isinstance(shared.error, KeyError)


def test_warnings_are_shown_in_the_order_of_the_parts() -> None:
    def work(part: int) -> None:
        for number in range(2):
            warnings.warn(f"{part}.{number}", stacklevel=1)

    with warnings.catch_warnings(record=True) as shown, unruly_threads(1):
        warnings.simplefilter("always")
        Shared(20, work).run(POOL)
    assert [str(message.message) for message in shown] == [
        f"{part}.{number}" for part in range(20) for number in (0, 1)
    ]


def test_warnings_of_parts_that_failed_together_are_forgotten() -> None:
    def work(part: int) -> None:
        warnings.warn(f"part {part}", stacklevel=1)
        if part == 2:
            raise ValueError

    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        Shared(3, work).run(POOL)
        assert shown == []
        warned = Shared(2, work)
        warned.run(POOL)
    assert [str(message.message) for message in shown] == ["part 0", "part 1"]
    assert warned.error is None


def test_parts_have_the_context_of_who_asks() -> None:
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(5)
    seen: list[tuple[int, str]] = []
    with np.errstate(divide="raise"):
        shared = Shared(40, lambda _part: seen.append((variable.get(), np.geterr()["divide"])))
        shared.run(POOL)
    assert set(seen) == {(5, "raise")}


def test_other_threads_know_that_they_are_inside_an_expression_only_while_they_are() -> None:
    seen: dict[int, bool] = {}
    together = threading.Barrier(4)

    def work(_part: int) -> None:
        together.wait(30)
        seen[threading.get_ident()] = here.expression

    Shared(4, work).run(POOL)
    assert seen.pop(threading.get_ident()) is False  # who asks has said so already, or is not in one
    assert set(seen.values()) == {True}
    outside: list[bool] = []
    done = threading.Barrier(4)

    def look() -> None:
        outside.append(here.expression)
        done.wait(30)

    for _ in range(3):
        POOL.push(look)
    done.wait(30)
    assert outside == [False] * 3


def test_ctrl_c_while_others_still_work_is_raised_when_they_have_ended() -> None:
    mine = threading.get_ident()
    begun, go = threading.Event(), threading.Event()
    busy: set[int] = set()

    def work(part: int) -> None:
        if threading.get_ident() == mine:
            assert begun.wait(30)
            return
        busy.add(part)
        begun.set()
        try:
            assert go.wait(30)
        finally:
            busy.discard(part)

    class PressedOnce(threading.Event):
        pressed = False

        def wait(self, timeout: float | None = None) -> bool:
            if not self.pressed:
                self.pressed = True
                threading.Timer(0.1, go.set).start()
                raise KeyboardInterrupt
            return super().wait(timeout)

    shared = Shared(2, work)
    shared._over = PressedOnce()
    try:
        with pytest.raises(KeyboardInterrupt):
            shared.run(POOL)
        assert busy == set()
    finally:
        go.set()
