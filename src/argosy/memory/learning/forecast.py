"""What comes next, if the run does again what it did before.

The windows just past, and the name of the one to come, are looked up in the run's own history: where the same windows
came in the same order, what followed then is expected to follow now. A loop is known after its first round, whatever
its length; a run that never repeats finds no match, and says so.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

HORIZON_WINDOWS = 48
BEST_MATCHES = 16
LONGEST_MATCH = 12
ALIKE = 0.9
"""Two windows of one name are alike where the cosine between the costs of their objects is at least this."""

ANY_NAME, NO_NAME = -1, -2


class Forecast:
    """Grows by one window at a time. Cost of a window: one product of the history with it."""

    def __init__(self, num_objects: int) -> None:
        self._cost = np.zeros((64, num_objects))
        self._direction = np.zeros((64, num_objects))
        self._numbers: dict[str, int] = {}
        """Of the names."""
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
        now = self._length
        if now == len(self._cost):
            self._cost, self._direction = (np.vstack([a, np.zeros_like(a)]) for a in (self._cost, self._direction))
            self._name_of = np.concatenate([self._name_of, np.zeros_like(self._name_of)])
        self._name_of[now] = self._numbers.setdefault(name, len(self._numbers))
        self._cost[now] = cost
        self._length += 1
        right = _note(self._cost, self._direction, now, self.expected[0])
        if now:
            self.hit_rate += 0.15 * (right - self.hit_rate)
        self._matched = _matched(self._direction, self._name_of, now, self._matched)

    def follow(self, next_name: str = "") -> NDArray[np.float64]:
        """[HORIZON_WINDOWS, n]: what each of the next windows is expected to cost, the first of which has this name.

        The futures of the best matches, the longest counting most and of two as long the later one. Where names tell
        windows apart, what followed a match must have had this name, which counts as one window more.
        """
        self.match_length = 0
        if self._length:
            names_tell = bool(next_name) and list(self._numbers) != [next_name]
            name = self._numbers.get(next_name, NO_NAME) if names_tell else ANY_NAME
            self.expected = np.zeros((HORIZON_WINDOWS, self._cost.shape[1]))
            self.match_length = int(
                _follow(self._cost, self._name_of, self._length - 1, self._matched, name, self.expected)
            )
        return self.expected


@njit(cache=True, nogil=True)
def _note(costs: Floats, directions: Floats, now: int, expected: Floats) -> bool:
    """Keeps the direction of the window now: of length 1, also where nothing was touched: then all alike. Was it
    expected?"""
    objects = costs.shape[1]
    length, likely = 0.0, 0.0
    for o in range(objects):
        length += np.log1p(4.0 * costs[now, o]) ** 2
        likely += np.log1p(4.0 * expected[o]) ** 2
    cosine = 0.0
    for o in range(objects):
        directions[now, o] = np.log1p(4.0 * costs[now, o]) / np.sqrt(length) if length > 0 else objects**-0.5
        guess = np.log1p(4.0 * expected[o]) / np.sqrt(likely) if likely > 0 else objects**-0.5
        cosine += guess * directions[now, o]
    return bool(cosine >= ALIKE)


@njit(cache=True, nogil=True)
def _matched(directions: Floats, name_of: Counts, now: int, before: Counts) -> Counts:
    """For each window of the past, how many windows up to it are like those up to now."""
    found = np.zeros(now, np.int64)
    for past in range(now):
        if name_of[past] != name_of[now]:
            continue
        cosine = 0.0
        for o in range(directions.shape[1]):
            cosine += directions[past, o] * directions[now, o]
        if cosine >= ALIKE:
            found[past] = min(before[past - 1] + 1 if past > 0 else 1, LONGEST_MATCH)
    return found


@njit(cache=True, nogil=True)
def _follow(costs: Floats, name_of: Counts, now: int, matched: Counts, name: int, expected: Floats) -> int:
    """The length of the best match. `expected` is all zeros before."""
    windows, objects = expected.shape
    length = np.zeros(now, np.int64)
    longest = 0
    for past in range(now):
        if name == ANY_NAME:
            length[past] = matched[past]
        elif name_of[past + 1] == name:
            length[past] = matched[past] + 1
        longest = max(longest, length[past])
    taken, total = 0, 0.0
    for wanted in range(longest, 0, -1):
        for match in range(now - 1, -1, -1):
            if length[match] == wanted and taken < BEST_MATCHES:
                weight = 3.0 ** (wanted - longest)
                taken, total = taken + 1, total + weight
                for ahead in range(windows):
                    for o in range(objects):
                        expected[ahead, o] += weight * costs[match + 1 + ahead % (now - match), o]
    for ahead in range(windows):
        for o in range(objects):
            expected[ahead, o] = expected[ahead, o] / total if taken else costs[now, o]
    return longest
