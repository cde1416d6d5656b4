"""What each object is expected to cost in the windows to come: several ways of guessing at once, added up.

The weights are those that would have guessed best so far, in the sense of least squares, found for each distance into
the future apart: the next window may follow a pattern while the fiftieth is known by its average alone. Costs are in
round trips.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from argosy.memory.learning.forecast import HORIZON_WINDOWS
from argosy.memory.learning.typical import Floats, Typical
from argosy.memory.learning.ways import (
    AVERAGE,
    CLOCK,
    DISTANCES,
    LASTED,
    LEFT,
    MATCH,
    NAME,
    PLACE,
    RATES,
    RING,
    TYPICAL,
    WAYS,
    Ways,
)

FORGET = 0.01
"""How much of what the weights were found by is forgotten in a window."""
FIRST_COUNTS = 3.0
"""How many windows must pass until what was seen counts as much as the weights to begin with."""
_NEAREST = np.array(
    [int(np.argmin(np.abs(np.log(DISTANCES) - np.log(ahead)))) for ahead in range(1, HORIZON_WINDOWS + 1)]
)
"""For each window to come, the distance whose weights it has."""


def _first_weights(typical_is_known: bool) -> Floats:
    weights = np.zeros(WAYS)
    if typical_is_known:
        weights[[MATCH, LEFT, NAME, LASTED, PLACE]] = 0.3, 0.25, 0.1, 0.1, 0.05
        weights[TYPICAL] = 1.0 - weights.sum()
    else:
        weights[[MATCH, NAME, LASTED]] = 0.5, 0.2, 0.1
        weights[AVERAGE + len(RATES) - 1] = 1.0 - weights.sum()
    return weights


class Mixture:
    """Grows by one window at a time: `guess` before each, `see` when it has ended."""

    def __init__(self, num_objects: int, typical: Typical | None = None) -> None:
        self.ways = Ways(num_objects, typical)
        self._first = _first_weights(typical is not None)
        self._moments = np.zeros((len(DISTANCES), WAYS, WAYS))
        self._hits = np.zeros((len(DISTANCES), WAYS))
        self._square = 0.0

    def see(self, name: str, cost: Floats, share: Floats) -> None:
        """A window of this name has ended that cost each object this much; `share` is its size over the capacity."""
        part = share / share.sum()
        self._square += 0.02 * (float(part @ cost**2) - self._square)
        _hold_against(self.ways.now, self.ways.guesses, cost, part, self._moments, self._hits)
        self.ways.see(name, cost, share)

    def guess(self, next_name: str = "") -> Floats:
        """[HORIZON_WINDOWS, n]: what each of the next windows is expected to cost, the first of which has this name."""
        guesses, in_full = self.ways.guess(next_name)
        draw = FIRST_COUNTS * (0.3 * self._square + 1e-6)
        return _blended(self._moments, self._hits, draw, self._first, guesses, in_full)


@njit(cache=True, nogil=True)
def _hold_against(now: int, guesses: Floats, cost: Floats, part: Floats, moments: Floats, hits: Floats) -> None:
    """What had been guessed for the window that ended, from each distance; large objects count more."""
    ways = guesses.shape[1]
    for near, distance in enumerate(DISTANCES):
        if now + 1 < distance:
            break
        then = (now + 1 - distance) % RING
        for a in range(ways):
            hit = 0.0
            for o in range(len(cost)):
                hit += part[o] * guesses[then, a, near, o] * cost[o]
            hits[near, a] = (1.0 - FORGET) * hits[near, a] + hit
            for b in range(a + 1):
                both = 0.0
                for o in range(len(cost)):
                    both += part[o] * guesses[then, a, near, o] * guesses[then, b, near, o]
                moments[near, a, b] = moments[near, b, a] = (1.0 - FORGET) * moments[near, a, b] + both


@njit(cache=True, nogil=True)
def least_squares(moments: Floats, hits: Floats, start: Floats, rounds: int = 30) -> Floats:
    """The weights w >= 0 of least w'Mw - 2 h'w, one after another, around and around; near enough after 30 rounds."""
    weights = start.copy()
    for _ in range(rounds):
        for way in range(len(weights)):
            left = hits[way] + moments[way, way] * weights[way]
            for other in range(len(weights)):
                left -= moments[way, other] * weights[other]
            weights[way] = max(left / moments[way, way], 0.0)
    return weights


@njit(cache=True, nogil=True)
def _blended(moments: Floats, hits: Floats, draw: float, first: Floats, guesses: Floats, in_full: Floats) -> Floats:
    """With weights that add up to 1: least squares, none below 0, drawn to the first ones while little was seen."""
    _, windows, objects = in_full.shape
    expected = np.empty((windows, objects))
    weights = np.empty((len(hits), len(first)))
    for near in range(len(hits)):
        drawn, drawn_hits = moments[near].copy(), hits[near].copy()
        for way in range(len(first)):
            drawn[way, way] += draw
            drawn_hits[way] += draw * first[way]
        found = least_squares(drawn, drawn_hits, first)
        total = 0.0
        for way in range(len(first)):
            total += found[way]
        for way in range(len(first)):
            weights[near, way] = found[way] / max(total, 0.3)
    for t in range(windows):
        near = _NEAREST[t]
        at = DISTANCES[near] - 1
        for o in range(objects):
            total = weights[near, MATCH] * (in_full[0, t, o] - in_full[0, at, o])
            total += weights[near, CLOCK] * (in_full[1, t, o] - in_full[1, at, o])
            for way in range(len(first)):
                total += weights[near, way] * guesses[way, near, o]
            expected[t, o] = total
    return expected
