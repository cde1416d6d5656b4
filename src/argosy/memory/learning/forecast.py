"""What comes next, if the run does again what it did before.

The windows just past, and the name of the one to come, are looked up in the run's own history: where the same windows
came in the same order, what followed then is expected to follow now. A loop is known after its first round, whatever
its length; a run that never repeats finds no match, and says so.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

HORIZON_WINDOWS = 48
BEST_MATCHES = 16
LONGEST_MATCH = 12
ALIKE = 0.9
"""Two windows of one name are alike where the cosine between the costs of their objects is at least this."""


class Forecast:
    """Grows by one window at a time. Cost of a window: one product of the history with it."""

    def __init__(self, num_objects: int) -> None:
        self._cost = np.zeros((64, num_objects))
        self._direction = np.zeros((64, num_objects))
        self._names: list[str] = []
        self._name_of: NDArray[np.int64] = np.zeros(64, dtype=np.int64)
        self._matched: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        """For each window of the past: how many windows up to it are like those up to now."""
        self._length = 0
        self.expected = np.zeros((HORIZON_WINDOWS, num_objects))
        """What `follow` returned last."""
        self.hit_rate = 0.0
        """How often the next window was as expected, lately; 0 to 1."""
        self.match_length = 0

    def see(self, name: str, cost: NDArray[np.float64]) -> None:
        """A window has ended that cost each object this much, in any unit."""
        now = self._append(name, cost)
        if now:
            right = float(_direction(self.expected[0]) @ self._direction[now]) >= ALIKE
            self.hit_rate += 0.15 * (right - self.hit_rate)
        alike = (self._direction[:now] @ self._direction[now] >= ALIKE) & (self._name_of[:now] == self._name_of[now])
        longer = np.concatenate(([0], self._matched)) if now else self._matched
        self._matched = np.where(alike, np.minimum(longer[:now] + 1, LONGEST_MATCH), 0)

    def follow(self, next_name: str = "") -> NDArray[np.float64]:
        """[HORIZON_WINDOWS, n]: what each of the next windows is expected to cost, the first of which has this name.

        The futures of the best matches, the longest counting most and of two as long the later one.
        """
        self.match_length = 0
        if self._length == 0:
            return self.expected
        now = self._length - 1
        length = self._lengths(now, next_name)
        self.match_length = int(length.max()) if now else 0
        if self.match_length == 0:
            self.expected = np.repeat(self._cost[now][None, :], HORIZON_WINDOWS, axis=0)
            return self.expected
        score = length + 1e-4 * np.arange(now)
        best = np.argsort(score)[-BEST_MATCHES:]
        weight = np.where(length[best] > 0, 3.0 ** (length[best] - self.match_length), 0.0)
        period = now - best
        ahead = best[:, None] + 1 + np.arange(HORIZON_WINDOWS)[None, :] % period[:, None]
        self.expected = np.einsum("m,mho->ho", weight / weight.sum(), self._cost[ahead])
        return self.expected

    def _lengths(self, now: int, next_name: str) -> NDArray[np.int64]:
        """Of the match up to each window of the past. Where names tell windows apart, the next one must have its name,
        which counts as one window more."""
        if not next_name or self._names == [next_name]:
            return self._matched
        if next_name not in self._names:
            return np.zeros_like(self._matched)
        same = self._name_of[1 : now + 1] == self._names.index(next_name)
        return np.where(same, self._matched + 1, 0)

    def _append(self, name: str, cost: NDArray[np.float64]) -> int:
        now = self._length
        if now == len(self._cost):
            self._cost, self._direction = (np.vstack([a, np.zeros_like(a)]) for a in (self._cost, self._direction))
            self._name_of = np.concatenate([self._name_of, np.zeros_like(self._name_of)])
        if name not in self._names:
            self._names.append(name)
        self._name_of[now] = self._names.index(name)
        self._cost[now] = cost
        self._direction[now] = _direction(cost)
        self._length += 1
        return now


def _direction(cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of length 1, also where nothing was touched: then all alike."""
    pressed = np.log1p(4.0 * cost)
    length = float(np.linalg.norm(pressed))
    return pressed / length if length > 0 else np.full(len(cost), len(cost) ** -0.5)
