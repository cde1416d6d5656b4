"""Is a futurized program the plain one? Each way of running it has reasons of its own to go wrong."""

from __future__ import annotations

import contextlib
import functools
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol
from unittest import mock

from tree.programs.runner.outcome import Filter, Outcome, difference, run
from tree.programs.runner.program import Program

from argosy.tree.pool import Pool

_DELAYS = (0.0, 0.0, 0.0, 1e-5, 2e-4, 1e-3)


class Futurize(Protocol):
    """`argosy.futurize`, or something in its place."""

    def __call__(self, function: Callable[..., Any], /) -> Callable[..., Any]: ...


def trouble(program: Program, futurize: Futurize, *, times: int = 1, warn: Filter = "always") -> str | None:
    """Call the futurized program `times` times, each on new arguments; the first difference from plain Python."""
    plain = plain_outcome(program, warn)
    seen: list[Outcome] = []
    with decorated(program, futurize) as call:
        for turn in range(times):
            seen.append(run(program, call, warn=warn))
            found = difference(plain, seen[-1])
            if found:
                return f"{program.name}, call {turn + 1}: {found}"
    for turn, outcome in enumerate(seen):
        found = outcome.changed_since()
        if found:
            return f"{program.name}, after call {turn + 1} had returned: {found}"
    return None


def trouble_of(program: Program, futurize: Futurize, *, times: int = 1) -> str | None:
    """The same for a program that is met once only: whether it is the same twice is asked where it seems not to be."""
    plain = run(program, program.function)
    with decorated(program, futurize) as call:
        seen = [run(program, call) for _ in range(times)]
    for turn, outcome in enumerate(seen):
        found = difference(plain, outcome) or outcome.changed_since()
        if found and difference(plain, run(program, program.function)) is None:
            return f"call {turn + 1}: {found}"
    return None


@functools.lru_cache(maxsize=4096)
def plain_outcome(program: Program, warn: Filter) -> Outcome:
    """What the plain function does, which must be the same twice for anything to be told from it."""
    first, second = (run(program, program.function, warn=warn) for _ in range(2))
    found = difference(first, second)
    assert found is None, f"{program.name} is not the same twice: {found}"
    return first


@contextlib.contextmanager
def decorated(program: Program, futurize: Futurize) -> Iterator[Callable[..., Any]]:
    """The module as if the program and its helpers had been decorated: calls inside find the futurized ones."""
    namespace = program.function.__globals__
    names = (program.function.__name__, *program.helpers)
    plain = {name: namespace[name] for name in names if name in namespace}
    futurized = {name: futurize(function) for name, function in plain.items()}
    namespace.update(futurized)
    try:
        yield futurized[program.function.__name__]
    finally:
        namespace.update(plain)


@contextlib.contextmanager
def unruly_threads(seed: int = 0) -> Iterator[None]:
    """Threads change hands far more often than by themselves, and take what is ready in any order, some of it late."""
    chance = random.Random(seed)
    push = Pool.push

    def push_somewhere(pool: Pool, job: Callable[[], None], wake: bool = True) -> None:
        seconds = chance.choice(_DELAYS)

        def late() -> None:
            time.sleep(seconds)
            job()

        push(pool, late if seconds else job, wake or chance.random() < 0.5)
        if chance.random() < 0.5:
            pool.ready.rotate(1)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with mock.patch.object(Pool, "push", push_somewhere):
            yield
    finally:
        sys.setswitchinterval(before)
