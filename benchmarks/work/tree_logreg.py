"""Logistic regression, decorated: code that is too small to gain anything must not lose."""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from typing import Any

from children import HERE, ask
from figures import Figure, Options

import argosy
from work.tree_compare import DECORATED, PLAIN, compare, timed_sizes
from work.tree_programs import PROGRAMS
from work.tree_turns import in_turns, ratio, times

NAME = "logistic regression"
WANTED = 1.2
SHORT = (1, 10)
"""Iterations of a short call."""
_BESIDE = {"plain": "plain", "second": "the second", "decorating": "to decorate", "loading": "to import"}
_CALLS = 200
_LIMIT_SECONDS = 60


def logreg(options: Options) -> list[Figure]:
    """Microseconds for each iteration, plain and decorated; short calls; the first call of a process."""
    figures = []
    for sizes in timed_sizes(PROGRAMS[NAME], options):
        rows, columns, iterations = sizes
        seconds = compare(NAME, PROGRAMS[NAME], sizes, options.turns(15, 3))
        what = f"{rows:,} x {columns:,}, {iterations:,} iterations"
        figures += times(what, seconds, unit="us", scale=1e6 / iterations)
        figures.append(_slower(what, ratio(seconds, DECORATED, PLAIN)))
    for iterations in SHORT:
        figures += _short(iterations, options)
    return figures + _first(options)


def _short(iterations: int, options: Options) -> list[Figure]:
    run = PROGRAMS[NAME].run
    decorated = argosy.futurize(run)
    given = PROGRAMS[NAME].make(100, 100, iterations)
    sides = {PLAIN: lambda: _again(run, given), DECORATED: lambda: _again(decorated, given)}
    what = f"100 x 100, a call of {iterations}"
    seconds = in_turns(what, sides, options.turns(15, 3))
    return [*times(what, seconds, unit="us", scale=1e6 / _CALLS), _slower(what, ratio(seconds, DECORATED, PLAIN))]


def _again(run: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    for _ in range(_CALLS):
        answer = run(*given)
    return answer


def _first(options: Options) -> list[Figure]:
    """In fresh processes, the second call of each as well."""
    figures = []
    for iterations in (1, 1000):
        command = [sys.executable, str(HERE / "work" / "tree_first.py"), "100", "100", str(iterations)]
        found = [ask(command, timeout_seconds=_LIMIT_SECONDS) for _ in range(options.turns(5, 1))]
        middle = {key: median(one[key] for one in found) * 1e3 for key in found[0]}
        note = "; ".join(f"{what} {middle[key]:.2f}" for key, what in _BESIDE.items())
        what = f"100 x 100, the first call, of {iterations:,}"
        figures.append(Figure(what=what, value=middle["first"], unit="ms", note=note))
    return figures


def _slower(what: str, value: float) -> Figure:
    return Figure(what=f"{what}: decorated over NumPy", value=value, unit="x", at_most=WANTED)
