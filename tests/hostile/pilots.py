"""Valid calls of a pilot, its Futures and programs, of tasks, and of futurized functions and gradients."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from hostile.judging import Case
from hostile.kinds import (
    Argument,
    a,
    amount,
    anything,
    either,
    flag,
    fresh,
    function,
    mapping,
    number,
    of,
    optional,
    path,
    text,
    whole,
    words,
)

import argosy
from argosy.pilot.current import current_pilot


def pilot() -> argosy.Pilot:
    """The one that the hunt holds open."""
    found = current_pilot()
    assert found is not None
    return found


def double(x: Any) -> Any:
    return x * 2


def square(x: Any) -> Any:
    return x * x


def loop(n: int) -> int:
    total = 0
    for i in range(n):
        total += i * i
    return total


def result(future: Any) -> Any:
    return future.result(20)


OPTIONS: dict[str, Argument] = {
    "ranks": a(1, optional(whole(1)), "rank", "ranks"), "gpus": a(0, either(whole(0), number(0)), "GPU", "GPUs"), "cores": a(1, whole(1), "core", "cores"),
    "memory": a("1MiB", optional(amount)), "timeout": a(30, optional(number(above=0, infinite=True))), "retries": a(0, whole(0)),
    "priority": a(1, whole()), "name": a("hostile", optional(text)), "keep": a(False, flag),
}  # fmt: skip


def in_pilot() -> list[Case]:
    futures: Callable[[], Any] = lambda: pilot().submit(double, 3)  # noqa: E731
    return [
        Case(name="submit", call=lambda fn, x, **more: pilot().submit(fn, x, **more), arguments={"fn": a(double, function, "submit"), "x": a(3, anything)} | OPTIONS, finish=result, group="pilot", typo=False, calls=("fn", "x")),
        Case(name="map", call=lambda fn, items, **more: list(pilot().map(fn, items, **more)), arguments={"fn": a(double, function, "map", "submit"), "items": a([1, 2], lambda v: hasattr(v, "__iter__"))} | OPTIONS, finish=lambda r: r, group="pilot", calls=("fn", "items")),
        Case(name="task in a pilot", call=lambda x, **more: argosy.task(**more)(double).submit(x), arguments={"x": a(3, anything)} | OPTIONS, finish=result, group="pilot", calls=("x",)),
        Case(name="Future.result", call=lambda timeout, **more: futures().result(timeout, **more), arguments={"timeout": a(20, optional(number(infinite=True)))}, finish=lambda r: r, group="pilot"),
        Case(name="Future.results", call=lambda timeout, **more: futures().results(timeout, **more), arguments={"timeout": a(20, optional(number(infinite=True)))}, finish=lambda r: r, group="pilot"),
        Case(name="Future.exception", call=lambda timeout, **more: futures().exception(timeout, **more), arguments={"timeout": a(20, optional(number(infinite=True)))}, finish=lambda r: r, group="pilot"),
        Case(name="Future.add_done_callback", call=lambda fn: futures().add_done_callback(fn), arguments={"fn": a(str, function)}, finish=lambda r: None, group="pilot", typo=False),
        Case(name="Executable in a pilot", call=lambda **more: pilot().submit(argosy.Executable(**more)), arguments=EXECUTABLE, finish=lambda f: f.result(20).stdout, group="pilot"),
        Case(name="frame in a pilot", call=lambda n, seed, **more: argosy.from_pydict({"a": [1, 2, 3]}).sample(n, seed=seed, **more), arguments={"n": a(2, whole(0)), "seed": a(3, whole(0))}, finish=lambda f: f.collect().to_pydict(), group="pilot"),
        Case(name="close", call=lambda cancel: _closed(cancel), arguments={"cancel": a(False, flag)}, finish=lambda r: r, group="pilots", slow=True, typo=False),
        Case(name="Pilot", call=lambda **more: _opened(more), arguments={
            "ranks": a(1, optional(whole(1))), "launcher": a("mpiexec", words("auto", "mpiexec")), "memory": a("64MiB", optional(amount)),
            "gpus": a(0, optional(whole(0))), "folder": fresh(tempfile.mkdtemp, optional(path)), "name": a("hostile", text)}, finish=lambda r: r, group="pilots", slow=True),
    ]  # fmt: skip


EXECUTABLE: dict[str, Argument] = {
    "command": a(["echo", "a"], of(list, tuple)), "mpi": a(False, optional(flag)), "folder": a("/", optional(path)),
    "environment": a({"A": "b"}, mapping), "check": a(True, flag),
}  # fmt: skip


def _closed(cancel: Any) -> Any:
    with argosy.Pilot(ranks=1) as one:
        one.submit(double, 1).result(20)
        one.close(cancel)
        return one.is_open


def _opened(more: dict[str, Any]) -> Any:
    if isinstance(more.get("ranks"), int) and more["ranks"] > 8:
        more = more | {"ranks": 10**9}  # neither does a test start so many
    with argosy.Pilot(**more) as one:
        return one.submit(double, 2).result(30)


def plain() -> list[Case]:
    data = np.arange(4.0)
    places = either(whole(), of(tuple))
    return [
        Case(name="Executable", call=argosy.Executable, arguments=EXECUTABLE, finish=str),
        Case(name="task", call=lambda x, **more: argosy.task(**more)(double)(x), arguments={"x": a(3, anything)} | {name: one for name, one in OPTIONS.items() if name not in ("ranks", "keep")} | {"pure": a(True, flag)}, finish=lambda r: r, calls=("x",)),
        Case(name="task of", call=lambda fn: argosy.task(fn), arguments={"fn": a(double, optional(function), "task", "argosy.task")}, finish=lambda r: None, typo=False),
        Case(name="futurize", call=lambda **more: argosy.futurize(loop, **more)(50), arguments={"strict": a(False, flag), "grain": a(0.0, optional(number(0, infinite=True))), "threads": a(2, optional(whole(1)))}, finish=lambda r: r),
        Case(name="futurize of", call=lambda function: argosy.futurize(function), arguments={"function": a(double, optional(function), "futurize")}, finish=lambda r: None, typo=False),
        Case(name="futurized", call=lambda x: _outcome(argosy.futurize(square), x), arguments={"x": a(3.0, anything)}, finish=lambda r: r, typo=False),
        Case(name="grad", call=lambda f, argnums, **more: argosy.grad(f, argnums, **more)(3.0, 2.0), arguments={"f": a(lambda x, y: x * y, function, "grad"), "argnums": a(1, places)}, finish=lambda r: r, calls=("f",)),
        Case(name="grad at", call=lambda x: argosy.grad(lambda x: (x * x).sum())(x), arguments={"x": a(data, anything, "argument 0")}, finish=str, typo=False, calls=("x",)),
    ]  # fmt: skip


def _outcome(made: Any, x: Any) -> Any:
    """As plain Python: its answer, or its error."""
    outcomes = []
    for f in (made, square):
        try:
            outcomes.append(("answer", type(f(x)).__name__))
        except Exception as error:
            outcomes.append(("error", type(error).__name__))
    if outcomes[0] != outcomes[1]:
        raise AssertionError(f"futurized {outcomes[0]}, plain {outcomes[1]}")
    return made(x) if isinstance(x, float) else None
