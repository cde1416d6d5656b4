"""What a learner sees of each object: numbers without a unit, so that what was learnt holds on any machine and scale.

The unit of cost is one round trip: what it takes to fetch an object and to send it back. An object that costs 2 in a
window while it is slow would repay its round trip twice over in that window.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.memory.learning.forecast import HORIZON_WINDOWS
from argosy.memory.learning.history import History
from argosy.memory.learning.mixture import Mixture
from argosy.memory.learning.prices import Prices
from argosy.memory.learning.typical import Typical
from argosy.memory.learning.ways import RATES
from argosy.memory.planning.policy import Observation

DISCOUNTS = (0.8, 0.95)
"""How fast what is expected later loses weight."""

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
        sums = [discount ** np.arange(HORIZON_WINDOWS) @ expected for discount in DISCOUNTS]
        first = np.where((expected > 0).any(axis=0), (expected > 0).argmax(axis=0), HORIZON_WINDOWS)
        fetch = observation.moves.fetch_seconds_per_byte
        nowhere = np.zeros_like(observation.resident)
        of_past = self._plan("past", forecast.expected, share, nowhere, observation)
        of_expected = self._plan("expected", expected, share, nowhere, observation)
        prices = self._prices["expected"].now
        same = np.ones(len(cost))
        columns = [
            *np.log1p(4.0 * average),
            np.log1p(4.0 * cost),
            np.log1p(habits.since) / 4.0,
            np.log1p(habits.usual_gap) / 4.0,
            np.minimum(habits.since / (habits.usual_gap + 1.0), 3.0) / 3.0,
            np.log1p(4.0 * habits.when_used),
            np.log1p(4.0 * expected[0]),
            *(np.log1p(total) for total in sums),
            np.log1p(first) / 4.0,
            same * np.log1p(forecast.match_length) / 2.5,
            same * forecast.hit_rate,
            np.minimum(share, 2.0),
            _denser(average[1], share),
            _denser(sums[-1], share),
            same * fetch / (fetch + observation.moves.evict_seconds_per_byte + 1e-30),
            same / (1.0 + self._step / 10.0),
            np.log1p(4.0 * self._typical),
            same * self._known,
            np.clip(of_past, -3.0, 10.0),
            np.clip(of_expected, -3.0, 10.0),
            np.zeros(len(cost)),
            same * np.log1p(prices[0]),
            same * np.log1p(prices.mean()),
        ]
        return np.stack(columns, axis=1), expected

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


def _denser(density: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each object, how much of the capacity those would take that are denser."""
    return np.minimum((density[None, :] > density[:, None] * (1.0 + 1e-9)) @ share, 3.0)
