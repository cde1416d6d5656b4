"""The last windows as they were, and the habits of the objects, for whoever can read more from them than averages tell.
Costs are in round trips."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.memory.learning.habits import GAPS, LONG, Habits

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
        lengths = np.stack([*habits.gaps, habits.lasted, habits.last_use, habits.last_rest])
        same = np.ones(len(habits.used))
        rows = [
            *np.log1p(4.0 * self._costs),
            *(np.log1p(np.minimum(lengths, LONG)) / 4.0),
            habits.used,
            habits.place / max(len(habits.place), 1),
            same * np.log1p(min(self._lasted, LONG)) / 4.0,
            same * float(next_name == self._name),
        ]
        return np.stack(rows, axis=1)
