"""The windows that a learner has lived through, as one block of arrays: the oldest are overwritten."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from argosy.memory.learning.features import COUNT, round_trip_seconds
from argosy.memory.planning.policy import Observation

MOST_OBJECTS = 20
TOO_LARGE = 9.0
"""Size over capacity of a place in the block that has no object: it can never come in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """Some windows. Sizes are in capacities and costs in round trips, so that all runs are of one scale."""

    before: NDArray[np.float32]
    """[batch, objects, COUNT] what was seen when it was decided."""
    fast: NDArray[np.bool_]
    """[batch, objects] what was decided."""
    cost: NDArray[np.float32]
    """[batch, objects] what each object then cost or would have cost by being slow."""
    after: NDArray[np.float32]
    """[batch, objects, COUNT] what was seen then."""
    share: NDArray[np.float64]
    fetch: NDArray[np.float64]
    """[batch, 1] the share of fetching in a round trip."""

    @property
    def real(self) -> NDArray[np.bool_]:
        """[batch, objects] is there an object?"""
        return self.share < TOO_LARGE


class Replay:
    def __init__(self, most_windows: int = 40_000) -> None:
        shape = (most_windows, MOST_OBJECTS)
        self._before = np.zeros((*shape, COUNT), dtype=np.float32)
        self._after = np.zeros((*shape, COUNT), dtype=np.float32)
        self._fast = np.zeros(shape, dtype=np.bool_)
        self._cost = np.zeros(shape, dtype=np.float32)
        self._share = np.full(shape, TOO_LARGE)
        self._fetch = np.zeros((most_windows, 1))
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, len(self._fast))

    def add(self, before: NDArray[np.float32], after: NDArray[np.float32], seen: Observation) -> None:
        """`seen` is the observation of the window itself: its placement is what had been decided before it."""
        at, n = self._added % len(self._fast), len(seen.sizes)
        if n > MOST_OBJECTS:
            raise ValueError(f"a learner is taught on at most {MOST_OBJECTS} objects, and this run has {n}")
        self._before[at], self._after[at], self._fast[at], self._cost[at] = 0.0, 0.0, False, 0.0
        self._share[at] = TOO_LARGE
        self._before[at, :n] = before
        self._after[at, :n] = after
        self._fast[at, :n] = seen.resident
        self._cost[at, :n] = seen.recent / round_trip_seconds(seen)
        self._share[at, :n] = np.minimum(seen.sizes / seen.capacity, TOO_LARGE / 2)
        moves = seen.moves
        both = moves.fetch_seconds_per_byte + moves.evict_seconds_per_byte
        self._fetch[at] = moves.fetch_seconds_per_byte / max(both, 1e-30)
        self._added += 1

    def draw(self, rng: np.random.Generator, size: int) -> Batch:
        chosen = rng.integers(len(self), size=size)
        return Batch(
            before=self._before[chosen],
            fast=self._fast[chosen],
            cost=self._cost[chosen],
            after=self._after[chosen],
            share=self._share[chosen],
            fetch=self._fetch[chosen],
        )
