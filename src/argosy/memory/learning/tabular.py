"""Q-learning with a table, the baseline: a coarse state of each object, and whether it is fast in the next window.

    Q[state, fast]  <-  Q + rate * (cost if slow + discount * min over next of (Q[state', next] + move) - Q)

in round trips. An object learns as if it were alone; that there is not room for all is settled when it is decided, by
what the table says that each is worth: Q[state, slow] - Q[state, fast].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.memory.learning.features import NAMES
from argosy.memory.learning.policy import ByWorth
from argosy.memory.learning.replay import Batch

_EDGES = {
    "average at rate 0.2": tuple(np.log1p(4.0 * np.array([0.01, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6]))),
    "windows since the last use": tuple(np.log1p(np.array([0.5, 2.5, 8.5])) / 4.0),
    "denser bytes over capacity, by average": (0.5, 1.0),
}
_COLUMNS = tuple(NAMES.index(name) for name in _EDGES)
STATES = int(np.prod([len(edges) + 1 for edges in _EDGES.values()]))


def state_of(features: NDArray[np.float32] | NDArray[np.float64]) -> NDArray[np.int64]:
    """[..., COUNT] to the number of the state."""
    state = np.zeros(features.shape[:-1], dtype=np.int64)
    for column, edges in zip(_COLUMNS, _EDGES.values(), strict=True):
        state = state * (len(edges) + 1) + np.digitize(features[..., column], edges)
    return state


class Tabular:
    """`table` is [STATES, 2]: expected cost of an object that is slow, and of one that is fast, in the next window."""

    def __init__(self, table: NDArray[np.float32] | None = None, *, rate: float = 0.02, discount: float = 0.95) -> None:
        self.table = np.zeros((STATES, 2), dtype=np.float32) if table is None else table
        self._rate = rate
        self._discount = discount

    def learn(self, batch: Batch) -> None:
        """From windows that somebody lived through; each tells of the object slow and of the object fast."""
        real = batch.real
        before, after, cost = state_of(batch.before)[real], state_of(batch.after)[real], batch.cost[real]
        fetch = np.broadcast_to(batch.fetch, real.shape)[real]
        is_slow, is_fast = self.table[after].T
        goal = np.stack(
            [
                cost + self._discount * np.minimum(is_slow, is_fast + fetch),
                self._discount * np.minimum(is_fast, is_slow + 1.0 - fetch),
            ],
            axis=1,
        )
        count = np.bincount(before, minlength=STATES)[:, None]
        error = np.zeros((STATES, 2))
        np.add.at(error, before, goal - self.table[before])
        # As if one came after the other: many of one state bring it to their mean, and never beyond.
        self.table += ((1.0 - (1.0 - self._rate) ** count) * error / np.maximum(count, 1)).astype(np.float32)

    def policy(self) -> ByWorth:
        worth = (self.table[:, 0] - self.table[:, 1]).astype(np.float64)
        return ByWorth(lambda features: worth[state_of(features)])
