"""What the runs say: accuracy for each share that is exchanged, and whether it is as good as global shuffling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from statistics import fmean, stdev
from typing import Any

from argosy.bench.locality.equivalence import Equivalence, tost
from argosy.bench.locality.plan import GLOBAL, Plan, Trial
from argosy.bench.locality.results import Outcome, accuracies

MARGIN = 0.5
"""Points of accuracy that do not matter."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One share, over seeds. In per cent."""

    fraction: float
    mean: float
    deviation: float | None
    """Between seeds; None with one of them."""
    seeds: int
    against: Equivalence | None
    """Global shuffling, in points; None for that itself, and with fewer than two seeds in common."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One way to train from one kind of shards."""

    norm: str
    every: int
    shards: str
    cells: tuple[Cell, ...]

    def as_dict(self) -> dict[str, Any]:
        told = asdict(self)
        for cell, mine in zip(told["cells"], self.cells, strict=True):
            cell["verdict"] = None if mine.against is None else mine.against.verdict
        return told


def findings_of(plan: Plan, done: Mapping[Trial, Outcome]) -> list[Row]:
    """Rows without any run are left out."""
    rows = (
        Row(norm=norm, every=every, shards=shards, cells=tuple(_cells(plan, done, norm, every, shards)))
        for every, norm, shards in product(plan.every, plan.norms, plan.shards)
    )
    return [row for row in rows if row.cells]


def _cells(plan: Plan, done: Mapping[Trial, Outcome], norm: str, every: int, shards: str) -> Iterator[Cell]:
    def found(fraction: float) -> dict[int, float]:
        trials = [plan.trial(shards, norm, every, fraction, seed) for seed in range(plan.seeds)]
        return {seed: 100 * accuracy for seed, accuracy in accuracies(done, trials).items()}

    reference = found(GLOBAL)
    for fraction in plan.fractions:
        if not (mine := found(fraction)):
            continue
        differences = [mine[seed] - reference[seed] for seed in mine if seed in reference]
        compared = fraction != GLOBAL and len(differences) > 1
        yield Cell(
            fraction=fraction,
            mean=fmean(mine.values()),
            deviation=stdev(mine.values()) if len(mine) > 1 else None,
            seeds=len(mine),
            against=tost(differences, MARGIN) if compared else None,
        )
