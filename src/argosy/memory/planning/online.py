"""Policies that need no training: most recently used, and greedy with hysteresis."""

from __future__ import annotations

from collections.abc import Iterable, Set

import numpy as np
from numpy.typing import NDArray

from argosy.memory.planning.policy import Observation


class RecentlyUsed:
    """The objects used last are fast: what an operating system's cache would do, whatever a move costs."""

    def __init__(self) -> None:
        self._last_used = np.zeros(0)

    def decide(self, observation: Observation) -> Set[int]:
        if observation.step == 0:
            self._last_used = np.full(len(observation.sizes), -np.inf)
        self._last_used[observation.recent > 0] = observation.step
        # Of objects used at the same time those that are here already come first: they need no move.
        order = np.lexsort((~observation.resident, -self._last_used))
        seen = [int(o) for o in order if np.isfinite(self._last_used[o]) or observation.resident[o]]
        return fill(seen, observation.sizes, observation.capacity)


class Hysteresis:
    """Greedy by cost density, but slow to move.

    Each object's seconds per window are a moving average: average += rate * (recent - average). The densest objects
    that are slow come in for the least dense that are fast, and only where

        horizon_windows * (average brought in - averages sent out) > factor * seconds of the moves
    """

    def __init__(self, *, rate: float = 0.3, horizon_windows: float = 8.0, factor: float = 1.5) -> None:
        self._rate = rate
        self._horizon_windows = horizon_windows
        self._factor = factor
        self._average = np.zeros(0)

    def decide(self, observation: Observation) -> Set[int]:
        if observation.step == 0 or not self._average.any():
            self._average = observation.recent.astype(np.float64)
        else:
            self._average = self._average + self._rate * (observation.recent - self._average)
        sizes, moves = observation.sizes, observation.moves
        density = self._average / np.maximum(sizes, 1)
        fast = {int(o) for o in np.flatnonzero(observation.resident)}
        room = observation.capacity - int(sizes[list(fast)].sum())
        pays = self._horizon_windows * self._average > self._factor * moves.fetch_seconds_per_byte * sizes
        wanted = [int(o) for o in np.argsort(-density, kind="stable") if pays[o] and o not in fast]
        first_to_go = sorted(fast, key=lambda o: density[o])
        for candidate in wanted:
            leaving: list[int] = []
            freed = room
            for resident in first_to_go:
                if freed >= sizes[candidate]:
                    break
                leaving.append(resident)
                freed += int(sizes[resident])
            if freed < sizes[candidate]:
                continue
            gain = self._horizon_windows * (self._average[candidate] - self._average[leaving].sum())
            if gain > self._factor * moves.seconds(float(sizes[candidate]), float(sizes[leaving].sum())):
                fast = (fast - set(leaving)) | {candidate}
                first_to_go = sorted(fast, key=lambda o: density[o])
                room = freed - int(sizes[candidate])
        return fast


def fill(order: Iterable[int], sizes: NDArray[np.int64], capacity: int) -> set[int]:
    """Take objects in this order, each that still fits."""
    taken: set[int] = set()
    for o in order:
        if sizes[o] <= capacity:
            taken.add(o)
            capacity -= int(sizes[o])
    return taken
