"""One small program in a process of its own: plain and futurized in turns, the first call and later ones.

python benchmarks/work/small_turns.py "Kalman filter" 5
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from children import answer

import argosy
from work import small_dynamic, small_samplers, small_solvers, small_text
from work.tree_turns import DifferentAnswer, same

PARTS = {
    "samplers": small_samplers.PROGRAMS,
    "solvers": small_solvers.PROGRAMS,
    "dynamic": small_dynamic.PROGRAMS,
    "text": small_text.PROGRAMS,
}


def timed(run: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> tuple[float, float, Any]:
    """Seconds by the clock and of processor, on arguments of its own; what it left in them is part of the answer."""
    given: Any = make()
    processor, begin = time.process_time(), time.perf_counter()
    value = run(*given)
    return time.perf_counter() - begin, time.process_time() - processor, [value, *given]


def alike(one: Any, other: Any) -> bool:
    """To the last bit, in dicts and their order too."""
    if isinstance(other, dict) and isinstance(one, dict):
        return alike([*one, *one.values()], [*other, *other.values()])
    if isinstance(other, (tuple, list)):
        return type(one) is type(other) and len(one) == len(other) and all(map(alike, one, other))
    return one == other if isinstance(other, (str, int)) else same(one, other)


def measure(name: str, rounds: int) -> dict[str, Any]:
    """Of each side, seconds by the clock and of processor, round by round."""
    run, make = next(programs[name] for programs in PARTS.values() if name in programs)
    sides = {"decorated": argosy.futurize(run), "plain": run}
    seconds: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
    timed(run, make)  # memory and caches are new to it
    for turn in range(rounds):
        answers = {}
        for side in sides if turn % 2 == 0 else reversed(sides):
            took, processor, answers[side] = timed(sides[side], make)
            seconds[side].append((took, processor))
        if not alike(answers["decorated"], answers["plain"]):
            raise DifferentAnswer(f"{name}: {answers['decorated']!r}\nis not\n{answers['plain']!r}")
    return seconds


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    answer(measure(sys.argv[1], int(sys.argv[2])))
