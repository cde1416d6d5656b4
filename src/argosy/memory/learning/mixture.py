"""What each object is expected to cost in the windows to come, by several ways of guessing at once.

A way is: what followed the last windows when they came before (`forecast`); moving averages; what is typical of the
windows of a name and of the whole run, where that is known; what windows cost that had the name of the next one, or
came as long after one; and what objects cost that have waited as long as this one. They are added up with weights that
would have guessed best so far, in the sense of least squares, found for each distance into the future apart: the next
window may follow a pattern while the fiftieth is known by its average alone. Costs are in round trips.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from argosy.memory.learning.forecast import HORIZON_WINDOWS, Forecast

Floats = NDArray[np.float64]

RATES = (0.5, 0.2, 0.07, 0.02)
"""Of the moving averages."""
DISTANCES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32)
"""Windows ahead for which weights are found; a window in between has those of the nearest."""
MATCH, TYPICAL, NAME, WAIT, WAYS = (0, len(RATES) + 1, len(RATES) + 2, len(RATES) + 3, len(RATES) + 4)
FORGET = 0.01
"""How much of what the weights were found by is forgotten in a window."""
FIRST_COUNTS = 3.0
"""How many windows must pass until what was seen counts as much as the weights to begin with."""
WAIT_EDGES = (1, 2, 3, 5, 8, 12, 20, 32, 48)
_NEAREST = np.array(
    [int(np.argmin(np.abs(np.log(DISTANCES) - np.log(ahead)))) for ahead in range(1, HORIZON_WINDOWS + 1)]
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Typical:
    """What each object costs by being slow in the mean window of a run, and in that of each name: [n], in one unit."""

    overall: Floats
    by_name: Mapping[str, Floats]
    windows: int
    """How many a run has."""

    def over(self, unit: Floats) -> Typical:
        by_name = {name: cost / unit for name, cost in self.by_name.items()}
        return replace(self, overall=self.overall / unit, by_name=by_name)

    def left(self, step: int) -> int | None:
        """How many windows there are from this one on; None for a run that has lasted longer than it should."""
        return self.windows - step if step < self.windows else None


def _first_weights(typical_is_known: bool) -> Floats:
    weights = np.zeros(WAYS)
    weights[[MATCH, NAME, WAIT]] = (0.4, 0.1, 0.15) if typical_is_known else (0.5, 0.2, 0.1)
    weights[TYPICAL if typical_is_known else len(RATES)] = 1.0 - weights.sum()
    return weights


class Mixture:
    """Grows by one window at a time: `see` when it has ended, `guess` before each."""

    def __init__(self, num_objects: int, typical: Typical | None = None) -> None:
        self.forecast = Forecast(num_objects)
        self._known = typical
        self._typical = np.zeros(num_objects) if typical is None else typical.overall
        self._sum = np.zeros((len(RATES), num_objects))
        self._weight = np.zeros((len(RATES), 1))
        if typical is not None:
            self._weight[:, 0] = (0.2, 0.4, 0.8, 0.95)
            self._sum += self._weight * typical.overall
        self._first = _first_weights(typical is not None)
        self._moments = np.zeros((len(DISTANCES), WAYS, WAYS))
        self._hits = np.zeros((len(DISTANCES), WAYS))
        self._square = 0.0
        self._past: list[tuple[str, NDArray[np.int64], Floats, Floats]] = []
        """Before each window: its name, how long each object had waited, its usual cost, and all guesses."""
        self._ended = 0
        self._waited = np.full(num_objects, WAIT_EDGES[-1])
        self._cost_by_wait = np.full((len(WAIT_EDGES) + 1, len(DISTANCES)), 0.3)
        self._usual_by_wait = self._cost_by_wait.copy()
        self._cost_by_name: dict[str, Floats] = {}
        self._count_by_name: dict[str, Floats] = {}

    @property
    def averages(self) -> Floats:
        """[rates, n]; zeros before the first window, where nothing is known."""
        return self._sum / np.maximum(self._weight, 1e-30)

    def see(self, name: str, cost: Floats, share: Floats) -> None:
        """A window of this name has ended that cost each object this much; `share` is its size over the capacity."""
        rates = np.asarray(RATES)[:, None]
        self._sum += rates * (cost - self._sum)
        self._weight += rates * (1.0 - self._weight)
        self._learn(cost, share)
        self._waited = np.where(cost > 0, 0, self._waited + 1)
        self.forecast.see(name, cost)
        self._ended += 1

    def guess(self, next_name: str = "") -> Floats:
        """[HORIZON_WINDOWS, n]: what each of the next windows is expected to cost, the first of which has this name."""
        guesses, followed = self._guess(next_name)
        expected = np.empty_like(followed)
        for near, distance in enumerate(DISTANCES):
            weights = self._weights(near)
            there = near == _NEAREST
            at = guesses[:, near]
            expected[there] = weights @ at + weights[MATCH] * (followed[there] - followed[distance - 1])
        return expected

    def _learn(self, cost: Floats, share: Floats) -> None:
        """What had been guessed for this window, from each distance, is held against it; large objects count more."""
        part, now = share / share.sum(), len(self._past)  # this window was guessed last
        self._square += 0.02 * (float(part @ cost**2) - self._square)
        for near, distance in enumerate(DISTANCES):
            if now < distance:
                break
            name, waited, usual, guesses = self._past[now - distance]
            at = guesses[:, near]
            self._moments[near] = (1.0 - FORGET) * self._moments[near] + (at * part) @ at.T
            self._hits[near] = (1.0 - FORGET) * self._hits[near] + at @ (part * cost)
            np.add.at(self._cost_by_wait[:, near], waited, cost * share)
            np.add.at(self._usual_by_wait[:, near], waited, usual * share)
            self._cost_by_name[name][near] += cost
            self._count_by_name[name][near] += 1

    def _guess(self, name: str) -> tuple[Floats, Floats]:
        """[ways, distances, n], and in full what followed the last windows when they came before."""
        averages = self.averages
        num_objects = averages.shape[1]
        followed = self.forecast.follow(name)
        if self.forecast.match_length == 0:
            followed = np.repeat(averages[1:2], HORIZON_WINDOWS, axis=0)
        waited = np.digitize(self._waited, WAIT_EDGES)
        usual = averages[2] if self._known is None else 0.5 * (averages[2] + self._typical)
        if name not in self._cost_by_name:
            self._cost_by_name[name] = np.zeros((len(DISTANCES), num_objects))
            self._count_by_name[name] = np.zeros((len(DISTANCES), 1))
        guesses = np.empty((WAYS, len(DISTANCES), num_objects))
        guesses[MATCH] = followed[np.asarray(DISTANCES) - 1]
        guesses[MATCH + 1 : TYPICAL] = averages[:, None]
        guesses[TYPICAL] = self._typical
        if self._known is not None:
            guesses[TYPICAL, 0] = self._known.by_name.get(name, self._typical)
        guesses[NAME] = (self._cost_by_name[name] + 2.0 * averages[1]) / (self._count_by_name[name] + 2.0)
        guesses[WAIT] = usual * (self._cost_by_wait / self._usual_by_wait)[waited].T
        self._past[self._ended :] = [(name, waited, usual, guesses)]  # anew, if a window did not end
        return guesses, followed

    def _weights(self, near: int) -> Floats:
        """[ways] that add up to 1: least squares, none below 0, drawn to the first ones while little was seen."""
        draw = FIRST_COUNTS * (0.3 * self._square + 1e-6)
        weights = least_squares(
            self._moments[near] + draw * np.eye(WAYS), self._hits[near] + draw * self._first, self._first
        )
        return weights / max(float(weights.sum()), 0.3)


@njit(cache=True, nogil=True)
def least_squares(moments: Floats, hits: Floats, start: Floats, rounds: int = 30) -> Floats:
    """The weights w >= 0 of least w'Mw - 2 h'w, one after another, around and around; near enough after 30 rounds."""
    weights = start.copy()
    for _ in range(rounds):
        for way in range(len(weights)):
            left = hits[way] - moments[way] @ weights + moments[way, way] * weights[way]
            weights[way] = max(left / moments[way, way], 0.0)
    return weights
