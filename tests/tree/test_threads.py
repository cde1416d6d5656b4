"""Calls from many threads and processes at once."""

from __future__ import annotations

import importlib
import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from tree.programs.runner.compare import unruly_threads
from tree.test_flow import expression
from tree.test_pool import meet, until

import argosy
from argosy.tree.effects.record import Guard
from argosy.tree.flow import Flow
from argosy.tree.kinds import kind_of
from argosy.tree.pool import Pool
from argosy.tree.program import Program
from argosy.tree.source import capture

PATIENCE_SECONDS = 30


@argosy.futurize(grain=0, threads=3)
def walked(seed: int, n: int) -> Any:
    table = np.zeros((n, 4))
    x = np.random.default_rng(seed).random((4, 4))
    for i in range(n):
        table[i] = x[i % 4] * i
    y = x @ x
    z = np.sort(y, axis=0)
    for i in range(1, n):
        table[i] = table[i - 1] * 0.5 + z[i % 4]
    return table.sum(), [float(row.sum()) for row in table]


@argosy.futurize(grain=0, threads=3)
def failing(n: int) -> Any:
    x = np.ones(3) * n
    y = np.ones(4) + n
    return x + y


def ended(call: Callable[[], Any], patience_seconds: float = PATIENCE_SECONDS) -> Any:
    """What it gives, in a thread that may hang."""
    given: list[Any] = []
    thread = threading.Thread(target=lambda: given.append(call()), daemon=True)
    thread.start()
    thread.join(patience_seconds)
    assert not thread.is_alive(), "it hangs"
    return given[0]


def test_six_threads_call_one_function_at_once() -> None:
    expected = [walked.plain(seed, 20) for seed in range(24)]
    with unruly_threads(), ThreadPoolExecutor(6) as threads:
        assert list(threads.map(lambda seed: walked(seed, 20), range(24), timeout=PATIENCE_SECONDS)) == expected


def test_a_call_that_fails_in_one_thread_does_not_disturb_others() -> None:
    expected = [walked.plain(seed, 12) for seed in range(12)]

    def call(number: int) -> Any:
        if number % 2:
            with pytest.raises(ValueError, match=r"shapes \(3,\) \(4,\)"):
                failing(number)
        return walked(number, 12)

    with unruly_threads(), ThreadPoolExecutor(6) as threads:
        assert list(threads.map(call, range(12), timeout=PATIENCE_SECONDS)) == expected


def test_threads_have_their_own_floating_point_errors() -> None:
    @argosy.futurize(grain=0, threads=3)
    def divide(a: Any) -> Any:
        b = a + 1.0
        c = a / (b - b)
        return c + b

    def call(number: int) -> str:
        with np.errstate(all="raise" if number % 2 else "ignore"):
            try:
                return str(divide(np.ones(2)).tolist())
            except FloatingPointError as error:
                return str(error)

    with ThreadPoolExecutor(6) as threads:
        said = list(threads.map(call, range(30), timeout=PATIENCE_SECONDS))
    assert said == ["[inf, inf]", "divide by zero encountered in divide"] * 15


def told_by_a_child(method: str, function: Any, *args: Any) -> Any:
    context: Any = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    process = context.Process(target=function, args=(theirs, *args))
    process.start()
    theirs.close()
    assert ours.poll(PATIENCE_SECONDS)
    told = ours.recv()
    process.join(PATIENCE_SECONDS)
    assert process.exitcode == 0
    return told


def tell(pipe: Any, seed: int) -> None:
    pipe.send(walked(seed, 10))


def test_a_forked_child_calls_what_its_parent_has_called() -> None:
    expected = walked(3, 10)
    assert told_by_a_child("fork", tell, 3) == expected
    assert walked(3, 10) == expected


def test_a_spawned_child_calls_what_it_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spawned_by_a_test.py").write_text(
        dedent("""
            import argosy
            import numpy as np

            @argosy.futurize(grain=0, threads=3)
            def total(n):
                a = np.zeros(n)
                for i in range(n):
                    a[i] = i * 0.5
                return float(a.sum())

            def tell(pipe, function, n):
                pipe.send((function(n), function is total))
        """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    module: Any = importlib.import_module("spawned_by_a_test")
    assert told_by_a_child("spawn", module.tell, module.total, 20) == (95.0, True)


def test_a_child_that_was_forked_while_other_threads_were_calling_can_call() -> None:
    over = threading.Event()

    def keep_calling() -> None:
        while not over.is_set():
            walked(1, 10)

    threads = [threading.Thread(target=keep_calling) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            assert told_by_a_child("fork", tell, 3) == walked.plain(3, 10)
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_a_call_that_sleeps_does_not_keep_the_ring_that_another_calls_work_needs() -> None:
    """One waits for a task elsewhere; the only thread of the pool fell asleep after it; then another has work."""
    pool, go, sleeps = Pool(1), threading.Event(), threading.Event()

    def waits() -> None:
        flow = Flow(pool)
        one = expression(flow, lambda: go.wait(PATIENCE_SECONDS))
        one.waits = True
        flow.issue(one, (), False)
        sleeps.set()
        flow.wait_for(one)

    def works() -> Any:
        flow = Flow(pool)
        one = expression(flow, lambda: 5)
        made = one.outs[0]
        flow.issue(one, (), False)
        flow.wait_for(one)
        return made.value

    meet(pool, 1)
    busy, held = threading.Event(), list[bool]()
    pool.push(lambda: held.append(busy.wait(PATIENCE_SECONDS)))
    first = threading.Thread(target=waits, daemon=True)
    first.start()
    assert sleeps.wait(PATIENCE_SECONDS)
    until(lambda: len(pool._helpers) == 1)
    busy.set()
    until(lambda: len(pool._asleep) == 1)
    try:
        assert ended(works, 2) == 5
    finally:
        go.set()
        first.join(PATIENCE_SECONDS)


def test_a_call_may_learn_while_another_checks_what_was_learnt() -> None:
    program = Program(capture(multiprocessing.active_children))

    def learn() -> int:
        program._guards.setdefault("later", Guard(key="later", look=lambda: 1, kind=kind_of(1)))
        return 1

    for key in ("first", "second"):
        program._guards[key] = Guard(key=key, look=learn, kind=kind_of(1))
    program.check()
    assert set(program._guards) == {"first", "second", "later"}
