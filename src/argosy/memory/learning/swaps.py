"""From what each object is worth in fast memory to who comes in and who leaves: one swap at a time, until none pays.

A swap brings one object in; for it leave the residents that are worth least per byte, as few as make room. It gains

    worth[in] - fetch[in] - sum over those that leave of (worth[out] + evict[out])

in seconds, and the swap that gains most for the bytes it brings in goes first. Room is counted in bytes, so that the
objects that are fast always fit. Compiled, as a learner asks for it a million times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from argosy.memory.planning.policy import Observation

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What bounds the swaps at a window's end."""

    sizes: Floats
    """[n] bytes; an object larger than the capacity never comes in."""
    fetch: Floats
    """[n] seconds."""
    evict: Floats
    capacity: float

    @staticmethod
    def of(observation: Observation) -> Terms:
        sizes = observation.sizes.astype(np.float64)
        moves = observation.moves
        return Terms(
            sizes=sizes,
            fetch=sizes * moves.fetch_seconds_per_byte,
            evict=sizes * moves.evict_seconds_per_byte,
            capacity=float(observation.capacity),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Swaps:
    """Every swap that there is from one placement."""

    gain: Floats
    """[n] seconds gained by bringing each object in; -inf for one that is there already or cannot fit."""
    order: NDArray[np.int64]
    """The residents, who leaves first before the others."""
    num_leaving: NDArray[np.int64]
    """[n] how many leave for each."""

    def leaving(self, candidate: int) -> NDArray[np.int64]:
        return self.order[: self.num_leaving[candidate]]


def swaps(worth: Floats, resident: Bools, terms: Terms) -> Swaps:
    gain, order, num_leaving = _swaps(worth, resident, terms.sizes, terms.fetch, terms.evict, terms.capacity)
    return Swaps(gain=gain, order=order, num_leaving=num_leaving)


def settle(worth: Floats, resident: Bools, terms: Terms) -> Bools:
    """[n] who is fast when no swap gains any more. At most one swap for each object."""
    settled: Bools = settle_one(worth, resident, terms.sizes, terms.fetch, terms.evict, terms.capacity)
    return settled


@njit(cache=True, nogil=True)
def settle_all(worth: Floats, resident: Bools, sizes: Floats, fetch: Floats, evict: Floats, capacity: float) -> Bools:
    """`settle` for many runs: every array is [runs, n]."""
    settled = np.empty_like(resident)
    for run in range(len(resident)):
        settled[run] = settle_one(worth[run], resident[run], sizes[run], fetch[run], evict[run], capacity)
    return settled


@njit(cache=True, nogil=True)
def settle_one(worth: Floats, resident: Bools, sizes: Floats, fetch: Floats, evict: Floats, capacity: float) -> Bools:
    """`settle`, for compiled callers."""
    fast = resident.copy()
    for _ in range(len(fast)):
        gain, order, num_leaving = _swaps(worth, fast, sizes, fetch, evict, capacity)
        best, most = -1, 0.0
        for o in range(len(fast)):
            if gain[o] / max(sizes[o], 1e-30) > most:
                best, most = o, gain[o] / max(sizes[o], 1e-30)
        if best < 0:
            break
        for at in range(num_leaving[best]):
            fast[order[at]] = False
        fast[best] = True
    return fast


@njit(cache=True, nogil=True)
def _swaps(
    worth: Floats, resident: Bools, sizes: Floats, fetch: Floats, evict: Floats, capacity: float
) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    there = np.flatnonzero(resident)
    order = there[np.argsort(worth[there] / np.maximum(sizes[there], 1e-30), kind="mergesort")]
    room = capacity - sizes[there].sum()
    gain = np.full(len(worth), -np.inf)
    num_leaving = np.zeros(len(worth), dtype=np.int64)
    for o in range(len(worth)):
        if resident[o] or sizes[o] > capacity:
            continue
        lacking, left, total = sizes[o] - room, 0, worth[o] - fetch[o]
        while lacking > 0 and left < len(order):
            out = order[left]
            total -= worth[out] + evict[out]
            lacking -= sizes[out]
            left += 1
        if lacking <= 0:
            gain[o], num_leaving[o] = total, left
    return gain, order, num_leaving
