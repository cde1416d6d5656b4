"""What a learner sees of each object: numbers without a unit, so that what was learnt holds on any machine and scale.

The unit of cost is one round trip: what it takes to fetch an object and to send it back. An object that costs 2 in a
window while it is slow would repay its round trip twice over in that window.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from argosy.memory.learning.forecast import HORIZON_WINDOWS
from argosy.memory.learning.habits import Counts
from argosy.memory.learning.history import History
from argosy.memory.learning.mixture import Mixture
from argosy.memory.learning.prices import Prices
from argosy.memory.learning.typical import Floats, Typical
from argosy.memory.learning.ways import RATES
from argosy.memory.planning.policy import Observation

DISCOUNTS = (0.8, 0.95)
"""How fast what is expected later loses weight."""

_DISCOUNTED = np.array(DISCOUNTS)[:, None] ** np.arange(HORIZON_WINDOWS)

PRICE_ROUNDS = 12

NAMES = (
    *(f"average at rate {rate}" for rate in RATES),
    "cost in the last window",
    "windows since the last use",
    "windows between uses",
    "how far on the way to the next use",
    "cost when used",
    "expected in the next window",
    *(f"expected, discounted by {discount}" for discount in DISCOUNTS),
    "expected windows to the next use",
    "length of the match in the past",
    "how often what was expected came",
    "size over capacity",
    "denser bytes over capacity, by average",
    "denser bytes over capacity, by what is expected",
    "share of fetching in a round trip",
    "how young the run is",
    "typical of the whole run, where that is known",
    "is it known?",
    "worth if the past repeats itself",
    "worth if what is expected comes",
    "worth if it comes, from where the objects are",
    "price of fast memory in the next window",
    "price of fast memory later",
)
COUNT = len(NAMES)
PLANNED, FROM_HERE = COUNT - 4, COUNT - 3
"""The columns of the worth that a plan on what is expected gives: as if everything were slow, and from where it is. The
first is what a learner begins with: it does not cling to a placement that was bad from the start."""


class Features:
    """The memory of one run, as [objects, COUNT] before each window. `see`, or `note` alone, must be called for every
    window, in order. `typical` is in round trips."""

    def __init__(self, num_objects: int, typical: Typical | None = None) -> None:
        self.mixture = Mixture(num_objects, typical)
        self.history = History(num_objects)
        self._typical = np.zeros(num_objects) if typical is None else typical.overall
        self._known = float(typical is not None)
        self._step = 0
        self._prices = {which: Prices() for which in ("past", "expected", "from here")}

    def see(self, observation: Observation) -> NDArray[np.float64]:
        seen, expected = self.note(observation)
        share = np.maximum(observation.sizes, 1) / max(observation.capacity, 1)
        worth = self._plan("from here", expected, share, observation.resident, observation)
        seen[:, FROM_HERE] = np.clip(worth, -3.0, 10.0)
        return seen

    def note(self, observation: Observation) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What does not depend on where the objects are (the column `FROM_HERE` is 0), and what the next windows are
        expected to cost, in round trips: [HORIZON_WINDOWS, n]."""
        cost = np.maximum(observation.recent, 0.0) / round_trip_seconds(observation)
        share = np.maximum(observation.sizes, 1) / max(observation.capacity, 1)
        if observation.step > 0:
            self.mixture.see(observation.window_name, cost, share)
            self.history.see(observation.window_name, cost)
            self._step += 1
        expected = self.mixture.guess(observation.next_name)
        ways = self.mixture.ways
        average, forecast, habits = ways.averages, ways.forecast, ways.habits
        moves = observation.moves
        nowhere = np.zeros_like(observation.resident)
        of_past = self._plan("past", forecast.expected, share, nowhere, observation)
        of_expected = self._plan("expected", expected, share, nowhere, observation)
        prices = self._prices["expected"].now
        same = (
            np.log1p(forecast.match_length) / 2.5,
            forecast.hit_rate,
            moves.fetch_seconds_per_byte / (moves.fetch_seconds_per_byte + moves.evict_seconds_per_byte + 1e-30),
            1.0 / (1.0 + self._step / 10.0),
            self._known,
            np.log1p(prices[0]),
            np.log1p(prices.mean()),
        )
        by_object = (cost, habits.usual_gap, habits.when_used, share, self._typical, of_past, of_expected)
        return _columns(average, by_object, habits.since, expected, _DISCOUNTED @ expected, same), expected

    def _plan(
        self,
        which: str,
        cost: NDArray[np.float64],
        share: NDArray[np.float64],
        resident: NDArray[np.bool_],
        observation: Observation,
    ) -> NDArray[np.float64]:
        """What each object is worth in the next window if the windows to come cost this much, in round trips."""
        moves = observation.moves
        fetch = moves.fetch_seconds_per_byte / (moves.fetch_seconds_per_byte + moves.evict_seconds_per_byte + 1e-30)
        worth = self._prices[which].settle(
            cost * share, share, share * fetch, share * (1.0 - fetch), resident, PRICE_ROUNDS
        )
        first: NDArray[np.float64] = worth[0] / share
        return first


def round_trip_seconds(observation: Observation) -> NDArray[np.float64]:
    """[n] what it takes to fetch each object and to send it back."""
    moves = observation.moves
    per_byte = moves.fetch_seconds_per_byte + moves.evict_seconds_per_byte
    return np.maximum(np.maximum(observation.sizes, 1) * per_byte, 1e-12)


def in_round_trips(seconds: Typical | None, observation: Observation) -> Typical | None:
    return None if seconds is None else seconds.over(round_trip_seconds(observation))


@njit(cache=True, nogil=True)
def _columns(
    average: Floats,
    by_object: tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats],
    since: Counts,
    expected: Floats,
    sums: Floats,
    same: tuple[float, float, float, float, float, float, float],
) -> Floats:
    """In the order of `NAMES`."""
    cost, usual_gap, when_used, share, typical, of_past, of_expected = by_object
    match, hit_rate, fetch, young, known, price, later_price = same
    windows, objects = expected.shape
    told = np.zeros((objects, COUNT))
    for o in range(objects):
        first = 0
        while first < windows and not expected[first, o] > 0:
            first += 1
        denser, later_denser = 0.0, 0.0
        for other in range(objects):
            denser += share[other] * (average[1, other] > average[1, o] * (1.0 + 1e-9))
            later_denser += share[other] * (sums[-1, other] > sums[-1, o] * (1.0 + 1e-9))
        at = len(average)
        for rate in range(at):
            told[o, rate] = np.log1p(4.0 * average[rate, o])
        told[o, at] = np.log1p(4.0 * cost[o])
        told[o, at + 1] = np.log1p(since[o]) / 4.0
        told[o, at + 2] = np.log1p(usual_gap[o]) / 4.0
        told[o, at + 3] = min(since[o] / (usual_gap[o] + 1.0), 3.0) / 3.0
        told[o, at + 4] = np.log1p(4.0 * when_used[o])
        told[o, at + 5] = np.log1p(4.0 * expected[0, o])
        at += 6
        for total in range(len(sums)):
            told[o, at + total] = np.log1p(sums[total, o])
        at += len(sums)
        told[o, at] = np.log1p(first) / 4.0
        told[o, at + 1] = match
        told[o, at + 2] = hit_rate
        told[o, at + 3] = min(share[o], 2.0)
        told[o, at + 4] = min(denser, 3.0)
        told[o, at + 5] = min(later_denser, 3.0)
        told[o, at + 6] = fetch
        told[o, at + 7] = young
        told[o, at + 8] = np.log1p(4.0 * typical[o])
        told[o, at + 9] = known
        told[o, at + 10] = min(max(of_past[o], -3.0), 10.0)
        told[o, PLANNED] = min(max(of_expected[o], -3.0), 10.0)
        told[o, COUNT - 2] = price
        told[o, COUNT - 1] = later_price
    return told
