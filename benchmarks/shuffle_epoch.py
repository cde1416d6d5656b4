"""What an exchange adds to an epoch of training."""

from __future__ import annotations

import sys
from statistics import median

from figures import Figure, Options, spread
from sections import run
from shuffle_ranks import on_ranks

SIDES = {"0": 0.0, "0 again": 0.0, "0.1": 0.1, "0.3": 0.3}
"""The first against itself tells how far to trust the others."""
WISHES = {"0.1": 1.05, "0.3": 1.10}


def epoch(options: Options) -> list[Figure]:
    """Seconds of an epoch at Q = 0.1 and 0.3 over those at Q = 0; one model under DDP, epochs of all in turn."""
    return [figure for num_ranks in (2, 4) for figure in _on(num_ranks, options)]


def _on(num_ranks: int, options: Options) -> list[Figure]:
    answers = on_ranks(num_ranks, "exchange_epochs", sides=SIDES, rounds=options.turns(21, 3))
    seconds, steps = answers[0]["seconds"], answers[0]["steps"]
    base = median(seconds["0"])
    what = f"{num_ranks} ranks, Q = 0"
    note = f"{steps} steps, spread {spread(seconds['0']):.0%}, of {len(seconds['0'])} epochs"
    figures = [Figure(what=what, value=base, unit="s", note=note), _enough(num_ranks, steps)]
    for side in ("0 again", "0.1", "0.3"):
        pairs = [a / b for a, b in zip(seconds[side], seconds["0"], strict=True)]
        sent = sum(answer["sent"][side] for answer in answers)
        note = f"{median(seconds[side]):.3f} s, spread {spread(seconds[side]):.0%}; in pairs {median(pairs):.3f}; "
        note += f"{sent / 1e6:.1f} MB an epoch from all ranks"
        what = f"{num_ranks} ranks, Q = {side} / Q = 0"
        value = median(seconds[side]) / base
        figures.append(Figure(what=what, value=value, unit="x", at_most=WISHES.get(side), note=note))
    return figures


def _enough(num_ranks: int, steps: int) -> Figure:
    return Figure(what=f"{num_ranks} ranks, steps of an epoch", value=steps, at_least=20)


if __name__ == "__main__":
    sys.exit(run({"epoch": epoch}, __doc__))
