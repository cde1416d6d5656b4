"""How long it takes to know who reads what."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median

from figures import Figure, Options
from sections import run

from argosy.shuffle import partial_order
from argosy.shuffle.holdings import dealt
from argosy.shuffle.order import line_of

RANKS = (1, 2, 8, 64, 1024, 4096)
EPOCHS = (0, 1, 10, 1_000, 1_000_000)
FRACTIONS = (0.1, 0.01)


def order(options: Options) -> list[Figure]:
    """Seconds for what one rank reads, and for what all read, in any epoch; one thread."""
    num_samples = options.count(10_000_000, 1_000_000)
    rounds = options.turns(5, 1)
    return [Figure(what="samples", value=num_samples)] + [
        figure
        for fraction in FRACTIONS
        for num_ranks in RANKS
        for figure in _on(num_samples, num_ranks, fraction, rounds)
    ]


def _on(num_samples: int, num_ranks: int, fraction: float, rounds: int) -> list[Figure]:
    own: dict[int, list[float]] = {epoch: [] for epoch in EPOCHS}
    every: dict[int, list[float]] = {epoch: [] for epoch in EPOCHS}
    for seed in range(rounds):  # of which nothing is known from the round before
        for epoch in EPOCHS:
            holdings = dealt(num_samples, num_ranks, fraction=fraction, seed=seed)
            own[epoch].append(_seconds(partial(line_of, holdings, num_ranks // 2, epoch)))
            told = partial(partial_order, num_samples, num_ranks, fraction=fraction, seed=seed, epoch=epoch)
            every[epoch].append(_seconds(told))
    what = f"M = {num_ranks:,}, Q = {fraction}"
    slowest = max(median(seconds) for seconds in own.values())
    late = median(own[EPOCHS[-1]]) / median(own[EPOCHS[-2]])
    return [
        Figure(what=f"{what}: one rank, slowest epoch", value=slowest, unit="s", at_most=1.0, note=_each(own)),
        Figure(what=f"{what}: one rank, epoch 1,000,000 / 1,000", value=late, unit="x", at_most=1.5),
        Figure(what=f"{what}: all ranks", value=max(map(median, every.values())), unit="s", note=_each(every)),
    ]


def _seconds(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def _each(seconds: dict[int, list[float]]) -> str:
    return ", ".join(f"epoch {epoch:,}: {median(values):.3f}" for epoch, values in seconds.items())


if __name__ == "__main__":
    sys.exit(run({"order": order}, __doc__))
