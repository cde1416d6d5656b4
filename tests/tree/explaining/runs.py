"""Made-up recordings, for what depends on times."""

from __future__ import annotations

from collections.abc import Sequence

from argosy.tree.explaining.record import Cause, Ran, Recording
from argosy.tree.explaining.statements import Function, Statement

MADE = Function(name="made", filename="made.py", line=9)


def run(number: int, started: float, ended: float, waits: Sequence[int] = (), **options: object) -> Ran:
    line = number + 10
    text = f"v{number} = f()"
    place = Statement(function=MADE, line=line, column=4, last_line=line, text=text, depth=0, kind="Assign")
    causes = tuple(Cause(number=other, how="input", name=f"v{other}", theirs=f"v{other}") for other in waits)
    told = {"where": "main thread", "lane": 0, "overlapped": 0.0, "nbytes": 0, "state": "ended", "alone": False}
    told |= {"reason": ""} | options
    return Ran(number=number, statement=place, started=started, ended=ended, causes=causes, **told)  # type: ignore[arg-type]


def recording(*runs: Ran) -> Recording:
    seconds = max(one.ended for one in runs)
    return Recording(function=MADE, seconds=seconds, num_threads=2, runs=runs)
