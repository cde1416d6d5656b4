"""How each object has been used so far: how long its use or its rest has lasted and how long the last ones did, the
times between its uses, what a use costs, and its place in the order of last use."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

LONG = 48
"""Windows: what was never used was used as long ago, before the run."""
UNKNOWN = 0
"""A length of which nothing is known yet."""
GAPS = 3
"""Times between uses that are kept one by one."""
EDGES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 28, 36, LONG)
LASTED_STATES = 2 * (len(EDGES) + 1)
PLACE_STATES = 33


class Habits:
    """Of one run: `see` when a window has ended. All are [n], but `gaps`."""

    def __init__(self, num_objects: int) -> None:
        self.used = np.zeros(num_objects, dtype=np.bool_)
        """In the last window?"""
        self.lasted = np.full(num_objects, LONG)
        """Windows for which that has been so."""
        self.last_use = np.full(num_objects, UNKNOWN)
        """Windows that the last use took which is over."""
        self.last_rest = np.full(num_objects, UNKNOWN)
        self.gaps = np.full((GAPS, num_objects), float(LONG))
        """[GAPS, n] windows from one use to the next, the last one first."""
        self.usual_gap = np.full(num_objects, float(LONG))
        self.when_used = np.zeros(num_objects)
        """What a use costs, lately."""
        self.place = np.full(num_objects, num_objects)
        """How many others were used later; as large as can be where it was never used."""
        self._was_used = np.zeros(num_objects, dtype=np.bool_)

    @property
    def since(self) -> Counts:
        """Windows since the last use."""
        return np.where(self.used, 0, self.lasted)

    def see(self, cost: Floats) -> None:
        """A window has ended that cost each object this much."""
        _see(
            cost,
            self.used,
            self.lasted,
            self.last_use,
            self.last_rest,
            self.gaps,
            self.usual_gap,
            self.when_used,
            self.place,
            self._was_used,
        )

    def by_lasted(self) -> Counts:
        """A number below LASTED_STATES: whether it was used in the last window, and for how long that has been so."""
        lasted = np.digitize(self.lasted, EDGES)
        return np.where(self.used, lasted, len(EDGES) + 1 + lasted)

    def by_place(self) -> Counts:
        """A number below PLACE_STATES."""
        most, objects = PLACE_STATES - 1, len(self.place)
        return self.place if objects <= most else self.place * most // objects

    def by_clock(self, windows: int, usual: Floats) -> Floats:
        """[windows, n]: what it costs if each use and each rest lasts as long as the last one did, and `usual` where
        no rest is over yet."""
        return _by_clock(windows, self.used, self.lasted, self.last_use, self.last_rest, self.when_used, usual)


@njit(cache=True, nogil=True)
def _see(
    cost: Floats,
    used: NDArray[np.bool_],
    lasted: Counts,
    last_use: Counts,
    last_rest: Counts,
    gaps: Floats,
    usual_gap: Floats,
    when_used: Floats,
    place: Counts,
    was_used: NDArray[np.bool_],
) -> None:
    """In place."""
    objects = len(cost)
    for o in range(objects):
        now = cost[o] > 0
        if now:
            gap = 1.0 if used[o] else lasted[o] + 1.0
            for older in range(GAPS - 1, 0, -1):
                gaps[older, o] = gaps[older - 1, o]
            gaps[0, o] = gap
            usual_gap[o] += 0.4 * (min(gap, LONG) - usual_gap[o])
            when_used[o] += (0.4 if was_used[o] else 1.0) * (cost[o] - when_used[o])
        if now == used[o]:
            lasted[o] += 1
        else:
            if used[o]:
                last_use[o] = lasted[o]
            elif was_used[o]:
                last_rest[o] = lasted[o]
            lasted[o] = 1
            used[o] = now
        was_used[o] |= now
    for o in range(objects):
        place[o] = 0 if was_used[o] else objects
        for other in range(objects):
            if was_used[o] and was_used[other]:
                since, others = 0 if used[o] else lasted[o], 0 if used[other] else lasted[other]
                place[o] += others < since


@njit(cache=True, nogil=True)
def _by_clock(
    windows: int,
    used: NDArray[np.bool_],
    lasted: Counts,
    last_use: Counts,
    last_rest: Counts,
    when_used: Floats,
    usual: Floats,
) -> Floats:
    expected = np.empty((windows, len(used)))
    for o in range(len(used)):
        if not used[o] and last_rest[o] == UNKNOWN:
            expected[:, o] = usual[o]
            continue
        length = last_use[o] if used[o] else last_rest[o]
        if length == UNKNOWN or lasted[o] > 2 * length:  # it goes on and on
            expected[:, o] = when_used[o] if used[o] else 0.0
            continue
        left = max(length - lasted[o], 0)
        use, rest = max(last_use[o], 1), max(last_rest[o], 1)
        for t in range(windows):
            if t < left:
                goes = used[o]
            else:
                at = (t - left) % (use + rest)
                goes = at >= rest if used[o] else at < use
            expected[t, o] = when_used[o] if goes else 0.0
    return expected
