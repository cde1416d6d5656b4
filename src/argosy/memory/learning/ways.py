"""Several ways of guessing what each object will cost in the windows to come, by what was seen of this run.

What followed the last windows when they came before (`forecast`); moving averages; what is typical of the windows of a
name and of the whole run, and what is left of that, where it is known; what windows cost that had the name of the next
one, or came as long after one; what objects cost that have been used, or not used, for as long as this one, or that
have its place in the order of last use; and what this one costs if it keeps to its own clock (`habits`). Costs are in
round trips.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from argosy.memory.learning.forecast import HORIZON_WINDOWS, Forecast
from argosy.memory.learning.habits import LASTED_STATES, PLACE_STATES, Habits
from argosy.memory.learning.typical import Floats, Typical

RATES = (0.5, 0.2, 0.07, 0.02)
"""Of the moving averages."""
DISTANCES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32)
"""Windows ahead for which each way makes a guess."""
MATCH, AVERAGE = 0, 1
TYPICAL, LEFT, NAME, LASTED, PLACE, CLOCK, WAYS = range(AVERAGE + len(RATES), AVERAGE + len(RATES) + 7)
RING = max(DISTANCES) + 1
"""Windows for which guesses are kept."""


class Ways:
    """Of one run, window by window: `guess` before each, `see` when it has ended."""

    def __init__(self, num_objects: int, typical: Typical | None = None) -> None:
        self.forecast = Forecast(num_objects)
        self.habits = Habits(num_objects)
        self._known = typical
        self._typical = np.zeros(num_objects) if typical is None else typical.overall
        self._sum = np.zeros((len(RATES), num_objects))
        self._weight = np.zeros((len(RATES), 1))
        if typical is not None:
            self._weight[:, 0] = (0.2, 0.4, 0.8, 0.95)
            self._sum += self._weight * typical.overall
        self._spent = np.zeros(num_objects)
        self._ended = 0
        self.now = -1
        """Number of the last guess."""
        self._has_ended = True
        self.guesses = np.zeros((RING, WAYS, len(DISTANCES), num_objects))
        """By the number of the guess, modulo RING."""
        self._usual = np.zeros((RING, num_objects))
        self._states = np.zeros((RING, 2, num_objects), dtype=np.int64)
        self._name_of = np.zeros(RING, dtype=np.int64)
        self._by_state = np.full((2, 2, max(LASTED_STATES, PLACE_STATES), len(DISTANCES)), 0.3)
        """By kind of state: what objects cost that were in each, and what was usual for them."""
        self._names: dict[str, int] = {}
        self._by_name = np.zeros((4, len(DISTANCES), num_objects))
        self._count_by_name = np.zeros((4, len(DISTANCES)))

    @property
    def averages(self) -> Floats:
        """[rates, n]; zeros before the first window, where nothing is known."""
        return self._sum / np.maximum(self._weight, 1e-30)

    def told(self, nears: Sequence[int]) -> Floats:
        """[n, WAYS * len(nears)]: what each way said last, for some of the distances."""
        guesses = self.guesses[self.now % RING][:, nears]
        return guesses.reshape(-1, guesses.shape[-1]).T

    def see(self, name: str, cost: Floats, share: Floats) -> None:
        """A window of this name has ended that cost each object this much; `share` is its size over the capacity."""
        rates = np.asarray(RATES)[:, None]
        self._sum += rates * (cost - self._sum)
        self._weight += rates * (1.0 - self._weight)
        _tell(
            self.now,
            cost,
            share,
            self._usual,
            self._states,
            self._by_state,
            self._name_of,
            self._by_name,
            self._count_by_name,
        )
        self._spent += cost
        self.habits.see(cost)
        self.forecast.see(name, cost)
        self._ended += 1
        self._has_ended = True

    def guess(self, name: str) -> tuple[Floats, Floats]:
        """[WAYS, distances, n] for the windows to come, the first of which has this name. And in full, for those ways
        that follow a pattern, MATCH and CLOCK: [2, HORIZON_WINDOWS, n]."""
        averages = self.averages
        followed = self.forecast.follow(name)
        if self.forecast.match_length == 0:
            followed = np.broadcast_to(averages[1], followed.shape)
        usual = averages[2] if self._known is None else 0.5 * (averages[2] + self._typical)
        in_full = np.empty((2, *followed.shape))
        in_full[0], in_full[1] = followed, self.habits.by_clock(HORIZON_WINDOWS, usual)
        which = self._number_of(name)
        self.now += self._has_ended  # anew, if a window did not end
        self._has_ended = False
        at = self.now % RING
        self._usual[at], self._name_of[at] = usual, which
        self._states[at, 0], self._states[at, 1] = self.habits.by_lasted(), self.habits.by_place()
        guesses = self.guesses[at]
        _fill(
            guesses,
            in_full,
            averages,
            usual,
            self._states[at],
            self._by_state,
            self._by_name[which],
            self._count_by_name[which],
        )
        if self._known is not None:
            guesses[TYPICAL] = self._typical
            guesses[TYPICAL, 0] = self._known.by_name.get(name, self._typical)
            guesses[LEFT] = self._known.left_of(self._spent, self._ended)
        return guesses, in_full

    def _number_of(self, name: str) -> int:
        which = self._names.setdefault(name, len(self._names))
        if which == len(self._by_name):
            self._by_name = np.concatenate([self._by_name, np.zeros_like(self._by_name)])
            self._count_by_name = np.concatenate([self._count_by_name, np.zeros_like(self._count_by_name)])
        return which


@njit(cache=True, nogil=True)
def _fill(
    guesses: Floats,
    in_full: Floats,
    averages: Floats,
    usual: Floats,
    states: NDArray[np.int64],
    by_state: Floats,
    by_name: Floats,
    count_by_name: Floats,
) -> None:
    """Every way but those by what is known beforehand."""
    for near, distance in enumerate(DISTANCES):
        for o in range(len(usual)):
            guesses[MATCH, near, o] = in_full[0, distance - 1, o]
            guesses[CLOCK, near, o] = in_full[1, distance - 1, o]
            for rate in range(len(averages)):
                guesses[AVERAGE + rate, near, o] = averages[rate, o]
            guesses[NAME, near, o] = (by_name[near, o] + 2.0 * averages[1, o]) / (count_by_name[near] + 2.0)
            lasted, place = states[0, o], states[1, o]
            guesses[LASTED, near, o] = usual[o] * by_state[0, 0, lasted, near] / by_state[0, 1, lasted, near]
            guesses[PLACE, near, o] = usual[o] * by_state[1, 0, place, near] / by_state[1, 1, place, near]


@njit(cache=True, nogil=True)
def _tell(
    now: int,
    cost: Floats,
    share: Floats,
    usual: Floats,
    states: NDArray[np.int64],
    by_state: Floats,
    name_of: NDArray[np.int64],
    by_name: Floats,
    count_by_name: Floats,
) -> None:
    """A window is noted under the states and the name that there were before it, at each distance."""
    for near, distance in enumerate(DISTANCES):
        if now + 1 < distance:
            break
        then = (now + 1 - distance) % RING
        name = name_of[then]
        count_by_name[name, near] += 1.0
        for o in range(len(cost)):
            by_name[name, near, o] += cost[o]
            for kind in range(len(by_state)):
                state = states[then, kind, o]
                by_state[kind, 0, state, near] += cost[o] * share[o]
                by_state[kind, 1, state, near] += usual[then, o] * share[o]
