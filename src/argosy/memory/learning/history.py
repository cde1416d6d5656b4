"""The last windows as they were, and the habits of the objects, for whoever can read more from them than averages tell.
Costs are in round trips."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from argosy.memory.learning.habits import GAPS, LONG, Counts, Floats, Habits

LAST = 12
"""Windows whose costs are told one by one."""
COUNT = LAST + GAPS + 7


class History:
    """Of one run: `see` when a window has ended, `columns` before each."""

    def __init__(self, num_objects: int) -> None:
        self._costs = np.zeros((LAST, num_objects))
        self._name = ""
        self._lasted = 0

    def see(self, name: str, cost: NDArray[np.float64]) -> None:
        self._costs = np.concatenate([cost[None, :], self._costs[:-1]])
        self._lasted = self._lasted + 1 if name == self._name else 1
        self._name = name

    def columns(self, next_name: str, habits: Habits) -> NDArray[np.float64]:
        """[n, COUNT]: costs, the last one first; times between uses; how long uses and rests last; the place in the
        order of last use; how long windows have had one name, and whether the next one has it too."""
        lasted, goes_on = min(self._lasted, LONG), next_name == self._name
        lengths = (habits.lasted, habits.last_use, habits.last_rest)
        return _columns(self._costs, habits.gaps, lengths, habits.used, habits.place, lasted, goes_on)


@njit(cache=True, nogil=True)
def _columns(
    costs: Floats,
    gaps: Floats,
    lengths: tuple[Counts, Counts, Counts],
    used: NDArray[np.bool_],
    place: Counts,
    lasted: int,
    goes_on: bool,
) -> Floats:
    objects = len(used)
    told = np.empty((objects, COUNT))
    for o in range(objects):
        for ago in range(LAST):
            told[o, ago] = np.log1p(4.0 * costs[ago, o])
        for back in range(GAPS):
            told[o, LAST + back] = np.log1p(min(gaps[back, o], LONG)) / 4.0
        at = LAST + GAPS
        for length in lengths:
            told[o, at] = np.log1p(min(length[o], LONG)) / 4.0
            at += 1
        told[o, at] = used[o]
        told[o, at + 1] = place[o] / objects
        told[o, at + 2] = np.log1p(lasted) / 4.0
        told[o, at + 3] = goes_on
    return told
