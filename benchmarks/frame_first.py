"""From the start of Python to the first joined rows, on a machine that has never seen Argosy, and on one that has."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from statistics import median

from children import ChildFailed, ask, child
from figures import Figure, Options

_LIMIT_SECONDS = 180
_JOIN = """
import argosy
left = argosy.from_pydict({"k": [1, 2, 3], "a": [10, 20, 30]})
right = argosy.from_pydict({"k": [3, 2, 2], "b": ["x", "y", "z"]})
assert left.join(right, on="k").collect().num_rows == 3
"""
_ANSWER = """
import time
from children import answer
answer(time.monotonic())
"""
_ALONE = _JOIN + _ANSWER
_WITH_PILOT = f"""
import argosy
with argosy.Pilot(ranks=2):
    exec({_JOIN!r})
    exec({_ANSWER!r})
"""


def first(options: Options) -> list[Figure]:
    """From the start of Python to the first collected join: kernels compiled on the way, then found on disk."""
    firsts: list[float] = []
    shown: list[bool] = []
    seconds: dict[str, list[float]] = {"in one process": [], "with a pilot of 2 ranks": []}
    for _ in range(options.turns(3, 1)):
        with tempfile.TemporaryDirectory(prefix="argosy-first-") as cache:
            fresh = {"ARGOSY_CACHE": cache}
            taken, progress = _first_time(fresh)
            firsts.append(taken)
            shown.append(progress)
            for what, script in zip(seconds, (_ALONE, _WITH_PILOT), strict=True):
                begin = time.monotonic()
                end = ask([sys.executable, "-c", script], timeout_seconds=_LIMIT_SECONDS, extra=fresh)
                seconds[what].append(end - begin)
    return [
        Figure(what="first use, compile included", value=median(firsts), unit="s", at_most=20.0),
        Figure(what="it says that it compiles (1: yes)", value=float(all(shown)), at_least=1.0),
        *(
            Figure(what=f"second process, {what}", value=median(times), unit="s", at_most=2.0)
            for what, times in seconds.items()
        ),
    ]


def _first_time(fresh: dict[str, str]) -> tuple[float, bool]:
    """Seconds to the end of a process that finds no kernels, and whether it said what it was doing meanwhile."""
    begin = time.monotonic()
    with child([sys.executable, "-c", _JOIN], extra=fresh) as running:
        try:
            running.process.wait(timeout=_LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            raise ChildFailed(f"no end after {_LIMIT_SECONDS} s: a first join\n{running.last_words()}") from None
        if running.process.returncode != 0:
            raise ChildFailed(f"status {running.process.returncode}: a first join\n{running.last_words()}")
        return time.monotonic() - begin, "compiling" in running.last_words()
