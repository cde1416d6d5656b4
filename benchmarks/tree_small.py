"""Small code, futurized, is never much slower: samplers, solvers, dynamic programs, loops over numbers and text.

    python benchmarks/tree_small.py --only samplers,solvers

Each program is as a user would write it, and has a process of its own, so that the first call in it counts as well. A
call may take 1.1 times as long as the plain one, and a tenth of a second more. Answers are compared, bit for bit.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from statistics import median
from typing import Any

from children import HERE, ask
from figures import Figure, Options
from sections import Section, run
from work.small_turns import PARTS

SHARE, SECONDS = 1.1, 0.1
_LIMIT_SECONDS = 300


def small(part: str, compiled: str, options: Options) -> list[Figure]:
    figures, met, worst = [], {"first": 0, "later": 0}, {"first": (0.0, ""), "later": (0.0, "")}
    for name in PARTS[part]:
        command = [sys.executable, str(HERE / "work" / "small_turns.py"), name, str(options.turns(5, 2))]
        # modules of ours are compiled once, as they are where they are installed
        extra = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": compiled}
        seconds: dict[str, Any] = ask(command, timeout_seconds=_LIMIT_SECONDS, extra=extra)
        plain, processor = (median(column) for column in zip(*seconds["plain"], strict=True))
        decorated = seconds["decorated"]
        calls = {"first": decorated[0], "later": [median(column) for column in zip(*decorated[1:], strict=True)]}
        for call, (took, of_processor) in calls.items():
            note = f"{took / plain:.2f} x of {plain:.3f} s; of processor {of_processor / processor:.2f} x"
            excess = took - SHARE * plain
            figures.append(Figure(what=f"{name}, {call} call", value=excess, unit="s", at_most=SECONDS, note=note))
            met[call] += figures[-1].ok
            worst[call] = max(worst[call], (took / plain, name))
    for call, count in met.items():
        what = f"{part}: programs of {len(PARTS[part])} that meet it, {call} call"
        note = f"the worst ratio is {worst[call][0]:.2f} x, of {worst[call][1]}"
        figures.append(Figure(what=what, value=count, at_least=len(PARTS[part]), note=note))
    return figures


def _section(part: str, compiled: str) -> Section:
    section: Any = partial(small, part, compiled)
    section.__doc__ = f"{part}, seconds over 1.1 x plain: of the first call in a process, and of later ones"
    return section  # type: ignore[no-any-return]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(run({part: _section(part, folder) for part in PARTS}, __doc__))
