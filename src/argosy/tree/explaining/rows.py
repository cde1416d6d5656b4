"""Runs folded by source line: what a loop did many times is one row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from argosy.tree.explaining.record import FAILED, NOT_RUN, Ran
from argosy.tree.explaining.statements import Function, Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """All runs of one statement, or of the head of one."""

    statement: Statement
    runs: tuple[Ran, ...]
    """Without those that were issued and never began."""

    @property
    def count(self) -> int:
        return len(self.runs)

    @property
    def seconds(self) -> float:
        return sum(run.seconds for run in self.runs)

    @property
    def most(self) -> float:
        return max((run.seconds for run in self.runs), default=0.0)

    @property
    def overlapped(self) -> float:
        """The share of its time in which something else ran too."""
        return min(1.0, sum(run.overlapped for run in self.runs) / self.seconds) if self.seconds else 0.0

    @property
    def nbytes(self) -> int:
        return sum(run.nbytes for run in self.runs)

    @property
    def where(self) -> str:
        places = Counter(run.where for run in self.runs)
        if len(places) == 1:
            return next(iter(places))
        return ", ".join(f"{place} ({count})" for place, count in places.most_common())

    @property
    def failed(self) -> bool:
        return any(run.state == FAILED for run in self.runs)


def rows_of(runs: Sequence[Ran]) -> list[Row]:
    """Functions in the order in which they were met, and in each the order of the source."""
    found: dict[Any, list[Ran]] = {}
    functions: dict[Function, int] = {}
    for run in runs:
        functions.setdefault(run.statement.function, len(functions))
        if run.state != NOT_RUN:
            found.setdefault(run.statement.place, []).append(run)
    places = sorted(found, key=lambda place: (functions[place[0]], *place[1:]))
    return [Row(statement=found[place][0].statement, runs=tuple(found[place])) for place in places]
