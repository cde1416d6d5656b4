"""Stretches of a run in which the placement stays the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from argosy.memory.costs import Costs
from argosy.memory.placement import Slow


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """The windows of a run in the order of time, cut into phases.

    Neighbours of equal costs are one window of `costs`, which loses nothing: staying at the better of two placements
    costs no more than going from the one to the other (and a move by way of a third placement is never cheaper).
    """

    costs: Costs
    """One window for each run of equal neighbours."""
    repeats: NDArray[np.int64]
    """[windows] how many occurrences each of them is."""
    starts: NDArray[np.int64]
    """[phases] the window with which each phase begins."""

    @property
    def num_phases(self) -> int:
        return len(self.starts)

    @property
    def is_merged(self) -> bool:
        """Do phases hold different windows? Then the best schedule by phases need not be the best of all."""
        return len(self.starts) < len(self.costs.windows)

    @property
    def phase_of(self) -> NDArray[np.int64]:
        """[windows]"""
        lengths = np.diff(np.append(self.starts, len(self.costs.windows)))
        return np.repeat(np.arange(len(self.starts)), lengths)

    def by_occurrence(self, rows: Slow) -> Slow:
        """[phases, objects] as [occurrences, objects]."""
        return np.repeat(rows[self.phase_of], self.repeats, axis=0)

    def by_phase(self, rows: Slow) -> Slow:
        """[occurrences, objects] as [phases, objects]: where the objects are when the phase begins."""
        first = np.cumsum(self.repeats) - self.repeats
        return rows[first[self.starts]]


def timeline(costs: Costs, *, most_phases: int) -> Timeline:
    """At most so many phases; neighbours that are most alike are merged until there are."""
    order = np.asarray(costs.order, dtype=np.int64)
    single = costs.per_occurrence()
    begins = np.flatnonzero(np.append(True, order[1:] != order[:-1]))
    repeats = np.diff(np.append(begins, len(order)))
    merged = Costs(
        objects=costs.objects,
        sizes=costs.sizes,
        windows=tuple(single.windows[i] for i in begins),
        order=tuple(range(len(begins))),
        floor=single.floor[begins] * repeats,
        base=single.base[begins] * repeats,
        slow=single.slow[begins] * repeats[:, None],
    )
    return Timeline(costs=merged, repeats=repeats, starts=_starts(merged.slow, repeats, most_phases))


def _starts(slow: NDArray[np.float64], repeats: NDArray[np.int64], most_phases: int) -> NDArray[np.int64]:
    """Merge neighbours by Ward's rule, in rounds: the pairs whose costs per occurrence differ least, weighed by how
    long they are, and no window twice in a round."""
    starts = np.arange(len(slow))
    sums, counts = slow.copy(), repeats.astype(np.float64)
    while len(starts) > most_phases:
        mean = sums / counts[:, None]
        weight = counts[:-1] * counts[1:] / (counts[:-1] + counts[1:])
        apart = weight * np.square(mean[1:] - mean[:-1]).sum(axis=1)
        taken = np.zeros(len(starts) + 1, dtype=np.bool_)
        joins: list[int] = []
        most_joins = min(len(starts) - most_phases, max(len(starts) // 4, 1))
        for left in np.argsort(apart, kind="stable"):
            if len(joins) == most_joins:
                break
            if not taken[left] and not taken[left + 1]:
                taken[left] = taken[left + 1] = True
                joins.append(int(left) + 1)
        keep = np.setdiff1d(np.arange(len(starts)), joins)
        starts = starts[keep]
        sums, counts = np.add.reduceat(sums, keep, axis=0), np.add.reduceat(counts, keep)
    return starts
