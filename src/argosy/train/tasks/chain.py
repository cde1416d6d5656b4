"""Chains of beads that fold on a square lattice: the HP model, by Monte Carlo moves.

Beads are hydrophobic (H) or polar (P). Two H that are neighbours on the lattice, but not along the chain, are a contact
of energy -1; a fold has no place taken twice. A move is taken with probability min(1, exp(-change of energy / T)), so
that a long trajectory visits a fold as often as exp(-energy / T) says. Moves: an end turns, a corner flips, two beads
swing over like a crankshaft, or all beads after one turn or are mirrored (which reaches every fold from every other).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from argosy.train.tasks.draws import below, uniform

_STEPS = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], np.int64)


def places_of(fold: str) -> NDArray[np.int64]:
    """Where the beads of a fold lie [beads, 2]. It is written as its steps: 0 right, 1 up, 2 left, 3 down."""
    steps = _STEPS[[int(step) for step in fold]]
    return np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(steps, axis=0)])


def contacts_of(places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which beads are neighbours on the lattice but not along the chain [beads, beads], symmetric."""
    apart = np.abs(places[:, None] - places[None]).sum(axis=2)
    along = np.abs(np.arange(len(places))[:, None] - np.arange(len(places))[None])
    return (apart == 1) & (along > 1)


@njit(cache=True, nogil=True)
def energy(places, water_shy):  # type: ignore[no-untyped-def]
    """Minus the number of contacts between two H beads."""
    total = 0
    for one in range(len(places)):
        if water_shy[one]:
            for other in range(one + 3, len(places), 2):
                if water_shy[other] and _apart(places, one, other) == 1:
                    total -= 1
    return total


@njit(cache=True, nogil=True)
def walk(state, places, water_shy, temperature, moves, trial):  # type: ignore[no-untyped-def]
    """Moves the chain so many times. `trial` is room for one more chain."""
    now = energy(places, water_shy)
    for _ in range(moves):
        first, last = _propose(state, places, trial)
        if _is_free(places, trial, first, last):
            kept = places[first:last].copy()
            places[first:last] = trial[first:last]
            after = energy(places, water_shy)
            if after <= now or uniform(state) < math.exp((now - after) / temperature):
                now = after
            else:
                places[first:last] = kept


@njit(cache=True, nogil=True)
def _propose(state, places, trial):  # type: ignore[no-untyped-def]
    """Writes the new places of beads first:last into `trial`. A move is as likely as the one that undoes it."""
    beads = len(places)
    kind = below(state, 4)
    if kind == 0:
        return _turn_tail(state, places, trial)
    bead = below(state, beads)
    if bead in (0, beads - 1):
        beside = 1 if bead == 0 else beads - 2
        way = below(state, 4)
        trial[bead, 0] = places[beside, 0] + (1 if way == 0 else -1 if way == 1 else 0)
        trial[bead, 1] = places[beside, 1] + (1 if way == 2 else -1 if way == 3 else 0)
        return bead, bead + 1
    if kind == 1 and bead + 2 < beads and _apart(places, bead - 1, bead + 2) == 1:
        for moved, root in ((bead, bead - 1), (bead + 1, bead + 2)):
            trial[moved, 0] = 2 * places[root, 0] - places[moved, 0]
            trial[moved, 1] = 2 * places[root, 1] - places[moved, 1]
        return bead, bead + 2
    trial[bead, 0] = places[bead - 1, 0] + places[bead + 1, 0] - places[bead, 0]
    trial[bead, 1] = places[bead - 1, 1] + places[bead + 1, 1] - places[bead, 1]
    return bead, bead + 1


@njit(cache=True, nogil=True)
def _turn_tail(state, places, trial):  # type: ignore[no-untyped-def]
    """All beads after one are turned around it, or mirrored."""
    beads = len(places)
    pivot = 1 + below(state, beads - 2)
    way = below(state, 5)
    for bead in range(pivot + 1, beads):
        x = places[bead, 0] - places[pivot, 0]
        y = places[bead, 1] - places[pivot, 1]
        if way == 0:
            x, y = -y, x
        elif way == 1:
            x, y = y, -x
        elif way == 2:
            x, y = -x, -y
        elif way == 3:
            x = -x
        else:
            y = -y
        trial[bead, 0] = places[pivot, 0] + x
        trial[bead, 1] = places[pivot, 1] + y
    return pivot + 1, beads


@njit(cache=True, nogil=True)
def _is_free(places, trial, first, last):  # type: ignore[no-untyped-def]
    """Whether beads first:last can lie where `trial` says: no place of another bead."""
    for moved in range(first, last):
        for bead in range(len(places)):
            taken = (bead < first or bead >= last) and (
                places[bead, 0] == trial[moved, 0] and places[bead, 1] == trial[moved, 1]
            )
            if taken:
                return False
    return True


@njit(cache=True, nogil=True, inline="always")
def _apart(places, one, other):  # type: ignore[no-untyped-def]
    return abs(places[one, 0] - places[other, 0]) + abs(places[one, 1] - places[other, 1])
