"""What an expression costs when its work is next to nothing."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from children import HERE, ask
from figures import Figure, Options

import argosy
from work.tree_peers import PEERS, missing
from work.tree_statements import LOOPS, arguments, written_out
from work.tree_turns import Seconds, check, in_turns, processor_seconds

WANTED_MICROSECONDS = 5.0
_LIMIT_SECONDS = 600


class NotIssued(Exception):
    """Nothing that was timed tells what an expression costs: statements ran in some other way."""


def overhead(options: Options) -> list[Figure]:
    """Microseconds for each statement over plain Python, `grain=0`, additions of one number; others by their tasks."""
    counts = [1000, options.count(10_000, 2000)]
    figures = []
    x, y = arguments()
    with tempfile.TemporaryDirectory() as folder:
        for shape, loop in LOOPS.items():
            for count in counts:
                figures += _ours(f"{shape}, a loop of {count:,}", loop, (x, y, count), count, options)
                lines = written_out(shape, count, Path(folder))
                figures += _ours(f"{shape}, {count:,} lines", lines, (x, y), count, options)
    if all(figure.at_most is None for figure in figures):
        raise NotIssued("no statement of a loop or of a straight line ran as an expression of its own, with grain=0")
    for peer in PEERS:
        if peer not in missing():
            figures += _theirs(peer, counts, options)
    return figures


def _ours(what: str, run: Callable[..., Any], given: tuple[Any, ...], count: int, options: Options) -> list[Figure]:
    issued = argosy.futurize(run, grain=0)
    begin = time.perf_counter()
    answer = issued(*given)
    first = time.perf_counter() - begin
    check(what, answer, run(*given))
    sides = {"plain": partial(run, *given), "decorated": partial(issued, *given)}
    rounds = options.turns(9, 3)
    each = _over_plain(in_turns(what, sides, rounds), "decorated", count)
    busy = processor_seconds(sides["decorated"], rounds) - processor_seconds(sides["plain"], rounds)
    num_expressions = sum(line.count for line in issued.profile.of(*given).lines)
    wanted = WANTED_MICROSECONDS if num_expressions >= count else None  # else it is not what an expression costs
    note = (
        f"{num_expressions:,} expressions; {min(each):.2f} to {max(each):.2f} in {len(each)}; "
        f"of processor {busy * 1e6 / count:.2f}; the first call {first * 1e6 / count:.1f}"
    )
    return [Figure(what=what, value=median(each), unit="us", at_most=wanted, note=note)]


def _theirs(peer: str, counts: list[int], options: Options) -> list[Figure]:
    script, numbers = str(HERE / "work" / "tree_peers.py"), ",".join(map(str, counts))
    command = [sys.executable, script, peer, "--counts", numbers, "--rounds", str(options.turns(3, 1))]
    answer = ask(command, timeout_seconds=_LIMIT_SECONDS)
    return [
        Figure(
            what=f"{peer}: {shape}, {int(count):,}", value=median(_over_plain(seconds, "tasks", int(count))), unit="us"
        )
        for shape, by_count in answer.items()
        for count, seconds in by_count.items()
    ]


def _over_plain(seconds: Seconds, side: str, count: int) -> list[float]:
    plain = median(seconds["plain"])
    return [(one - plain) * 1e6 / count for one in seconds[side]]
