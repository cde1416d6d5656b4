"""The last windows as they were, for whoever can read more from them than averages tell. Costs are in round trips."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LAST = 12
"""Windows whose costs are told one by one."""
GAPS = 3
"""Times between uses that are told one by one."""
LONGEST = 48.0
COUNT = LAST + GAPS + 2


class History:
    """Of one run: `see` when a window has ended, `columns` before each."""

    def __init__(self, num_objects: int) -> None:
        self._costs = np.zeros((LAST, num_objects))
        self._gaps = np.full((GAPS, num_objects), LONGEST)
        self._since = np.full(num_objects, LONGEST)
        self._name = ""
        self._lasted = 0

    def see(self, name: str, cost: NDArray[np.float64]) -> None:
        self._costs = np.concatenate([cost[None, :], self._costs[:-1]])
        self._since += 1
        used = cost > 0
        self._gaps[:, used] = np.concatenate([self._since[None, used], self._gaps[:-1, used]])
        self._since[used] = 0
        self._lasted = self._lasted + 1 if name == self._name else 1
        self._name = name

    def columns(self, next_name: str) -> NDArray[np.float64]:
        """[n, COUNT]: costs, the last one first; times between uses; how long windows have had one name, and whether
        the next one has it too."""
        goes_on = float(next_name == self._name)
        same = np.ones(self._costs.shape[1])
        rows = [
            *np.log1p(4.0 * self._costs),
            *(np.log1p(np.minimum(self._gaps, LONGEST)) / 4.0),
            same * np.log1p(min(float(self._lasted), LONGEST)) / 4.0,
            same * goes_on,
        ]
        return np.stack(rows, axis=1)
