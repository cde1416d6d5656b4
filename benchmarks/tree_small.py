"""Small code, futurized, is never much slower: samplers, solvers, dynamic programs, loops over numbers and text.

    python benchmarks/tree_small.py --only samplers,solvers

Each program is as a user would write it, and has a process of its own, so that the first call in it counts as well. A
call may take 1.1 times as long as the plain one, and a tenth of a second more. Answers are compared, bit for bit.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from typing import Any

from children import HERE, ask
from figures import Figure, Options
from sections import Section, run
from work.small_turns import PARTS

SHARE, SECONDS = 1.1, 0.1
CLOCKS = ("by the clock", "by processor time")
"""The fastest of each. Processor time is that of all threads: steady also where others use the machine."""
_LIMIT_SECONDS = 300


def small(part: str, compiled: str, options: Options) -> list[Figure]:
    figures, calls = [], ("first", "later")
    excess: dict[tuple[str, str], dict[str, float]] = {(call, clock): {} for call in calls for clock in CLOCKS}
    script = [sys.executable, str(HERE / "work" / "small_turns.py")]
    extra = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": compiled}
    ask(
        [*script, next(iter(PARTS[part])), "2"], timeout_seconds=_LIMIT_SECONDS, extra=extra
    )  # modules are compiled once
    for name in PARTS[part]:
        command = [*script, name, str(options.turns(5, 2))]
        seconds: dict[str, Any] = ask(command, timeout_seconds=_LIMIT_SECONDS, extra=extra)
        plain = [min(column) for column in zip(*seconds["plain"], strict=True)]
        first, *later = seconds["decorated"]
        for call, took in (("first", first), ("later", [min(column) for column in zip(*later, strict=True)])):
            over = [one - SHARE * other for one, other in zip(took, plain, strict=True)]
            for clock, one in zip(CLOCKS, over, strict=True):
                excess[call, clock][name] = one
            note = f"{took[0] / plain[0]:.2f} x of {plain[0]:.3f} s"
            note += f"; of processor {over[1]:.3f} s over, {took[1] / plain[1]:.2f} x of {plain[1]:.3f} s"
            figures.append(Figure(what=f"{name}, {call} call", value=over[0], unit="s", at_most=SECONDS, note=note))
    for (call, clock), by_name in excess.items():
        what = f"{part}, {call} call, {clock}: meet it, of {len(by_name)}"
        worst = max(by_name, key=lambda name: by_name[name])
        note = f"the worst is {by_name[worst]:.3f} s over, {worst}"
        count = sum(one <= SECONDS for one in by_name.values())
        figures.append(Figure(what=what, value=count, at_least=len(by_name), note=note))
    return figures


def _section(part: str, compiled: str) -> Section:
    section: Any = partial(small, part, compiled)
    section.__doc__ = f"{part}, seconds over 1.1 x plain: of the first call in a process, and of later ones"
    return section  # type: ignore[no-any-return]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(run({part: _section(part, folder) for part in PARTS}, __doc__))
