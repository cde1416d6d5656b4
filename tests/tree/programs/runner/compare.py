"""Is a futurized program the plain one? Each way of running it has reasons of its own to go wrong."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from tree.programs.runner.outcome import Filter, Outcome, difference, run
from tree.programs.runner.program import Program


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


@functools.cache
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
def hasty_switching(seconds: float = 1e-5) -> Iterator[None]:
    """Threads change hands far more often than they do by themselves."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
