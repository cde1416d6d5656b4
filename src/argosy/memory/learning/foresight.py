"""What the windows to come will cost: the mixture of forecasts, corrected by networks that were taught on other runs.

For each span of the future (the next window, the one after it, the two after those, ...) a network says by how much
the mean of the mixture is off, from what the features and the last windows tell of an object and of the others:

    h = relu(x W1 + b1)        c = mean of h over the objects
    k = relu([h, c] W2 + b2)   mean = (mixture's mean + SMALL) * exp(k W3 + b3)

Several networks that differ by their seeds are averaged. How far to believe them is learnt during the run, for each
span apart: what they had said is held against what came, as is what the mixture had said. Costs are in round trips.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numba import njit
from numpy.typing import NDArray

from argosy.memory.learning import history
from argosy.memory.learning.features import COUNT, Features, in_round_trips, round_trip_seconds
from argosy.memory.learning.forecast import HORIZON_WINDOWS
from argosy.memory.learning.typical import Typical
from argosy.memory.learning.ways import DISTANCES, WAYS
from argosy.memory.planning.policy import Observation

Floats = NDArray[np.float64]

EDGES = (0, 1, 2, 4, 8, 16, 32, HORIZON_WINDOWS)
SPANS = tuple(pairwise(EDGES))
"""First window of each span, and the first after it."""
_SPAN_OF = np.repeat(np.arange(len(SPANS)), np.diff(EDGES))
"""Of each window."""
_TO_MEANS = (np.arange(len(SPANS)) == _SPAN_OF[:, None]) / np.diff(EDGES)
_MIDDLES = np.array([(first + end - 1) // 2 for first, end in SPANS])
SMALL = 0.05
LEAST_PATTERN = 0.02
"""Where the mixture expects less than this in a span, what the networks expect is spread evenly over it."""
MOST = (-4.0, 2.0)
"""Of the logarithm of what the mixture is off by."""
WIDTH = 64
NETWORKS = 3
NEARS = tuple(DISTANCES.index(ahead) for ahead in (1, 2, 4, 6, 12, 24, 32))
"""For each span, the distance by which each way of guessing is told."""
INPUTS = COUNT + history.COUNT + (1 + WAYS) * len(SPANS)
SHAPES = {
    "foresee W1": (NETWORKS, INPUTS, WIDTH),
    "foresee b1": (NETWORKS, 1, WIDTH),
    "foresee W2": (NETWORKS, 2 * WIDTH, WIDTH),
    "foresee b2": (NETWORKS, 1, WIDTH),
    "foresee W3": (NETWORKS, WIDTH, len(SPANS)),
    "foresee b3": (NETWORKS, 1, len(SPANS)),
}
TRUST = 0.8
"""In the networks, to begin with, where it is known what objects cost in the mean; the rest is in the mixture. Where it
is not, they know no more of a run that begins than what those cost that they were taught on, and must earn it."""
TRUST_COUNTS = 30.0
"""How many windows must pass until what was seen counts as much as that."""
FORGET = 0.01

Weights = Mapping[str, NDArray[np.float32]]


def means(expected: Floats) -> Floats:
    """[HORIZON_WINDOWS, n] to [n, spans]."""
    return expected.T @ _TO_MEANS


def inputs_of(features: Features, columns: Floats, expected: Floats, next_name: str) -> Floats:
    """[n, INPUTS]: what the networks see; `columns` and `expected` are what `features` told last."""
    ways = features.mixture.ways
    past = features.history.columns(next_name, ways.habits)
    said = np.concatenate([means(expected), ways.told(NEARS)], axis=1)
    return np.concatenate([columns, past, np.log1p(4.0 * said)], axis=1)


def corrected(weights: Weights, inputs: Floats, mean: Floats) -> Floats:
    """[n, spans]: what the networks expect where the mixture expects `mean`."""
    w1, b1, w2, b2, w3, b3 = (weights[name] for name in SHAPES)
    hidden = np.maximum(inputs.astype(np.float32) @ w1 + b1, 0.0)
    common = np.broadcast_to(hidden.mean(axis=-2, keepdims=True), hidden.shape)
    mixed = np.maximum(np.concatenate([hidden, common], axis=-1) @ w2 + b2, 0.0)
    told: Floats = ((mean + SMALL) * np.exp(np.clip(mixed @ w3 + b3, *MOST))).mean(axis=0)
    return told


def spread(told: Floats, mean: Floats, expected: Floats) -> Floats:
    """The windows of each span as the mixture has them, brought to what is told of the span: [HORIZON_WINDOWS, n]."""
    has_pattern = mean > LEAST_PATTERN
    factor = told / np.maximum(mean, LEAST_PATTERN)
    by_window = (np.where(has_pattern, factor, 0.0).T[_SPAN_OF], np.where(has_pattern, 0.0, told).T[_SPAN_OF])
    return expected * by_window[0] + by_window[1]


class Foresight:
    """Called before each window, in order; returns what the next ones will cost by objects being slow, in seconds:
    [HORIZON_WINDOWS, n], or as many as are left of the run where that is known. Begins anew with each run."""

    def __init__(self, weights: Weights, typical: Typical | None = None) -> None:
        self._weights = weights
        self._typical = typical
        self._features = Features(0)
        self._trust = Trust(0.0, 0)

    def __call__(self, observation: Observation) -> Floats:
        trip = round_trip_seconds(observation)
        if observation.step == 0:
            self._features = Features(len(trip), in_round_trips(self._typical, observation))
            self._trust = Trust(0.0 if self._typical is None else TRUST, len(trip))
        else:
            share = observation.sizes / max(int(observation.sizes.sum()), 1)
            self._trust.see(np.maximum(observation.recent, 0.0) / trip, share)
        columns, expected = self._features.note(observation)
        mean = means(expected)
        inputs = inputs_of(self._features, columns, expected, observation.next_name)
        told = spread(corrected(self._weights, inputs, mean), mean, expected)
        ahead = self._trust.blend(expected, told) * trip
        return ahead if self._typical is None else ahead[: self._typical.left(observation.step)]


class Trust:
    """In the second of two forecasts, found by least squares: `blend` before each window, `see` when it has ended."""

    def __init__(self, first: float, num_objects: int) -> None:
        self._first = first
        self._seen = 0.0
        self._gained = np.zeros(len(SPANS))
        self._apart = np.zeros(len(SPANS))
        self._now = -1
        self._past = np.zeros((HORIZON_WINDOWS, 2, len(SPANS), num_objects))
        """What both said of the middle of each span; by the number of the window, modulo the horizon."""

    def see(self, cost: Floats, share: Floats) -> None:
        """A window has cost this much; what was said of it is judged at the middle of each span."""
        self._seen += 1.0 - FORGET * self._seen
        _judge(self._now, self._past, cost, share, self._gained, self._apart)

    def blend(self, one: Floats, other: Floats) -> Floats:
        self._now += 1
        self._past[self._now % HORIZON_WINDOWS] = one[_MIDDLES], other[_MIDDLES]
        counts = TRUST_COUNTS * max(float(self._apart.max()) / max(self._seen, 1.0), 1e-9)
        trust = np.clip((self._gained + counts * self._first) / (self._apart + counts), 0.0, 1.0)
        return one + trust[_SPAN_OF, None] * (other - one)


@njit(cache=True, nogil=True)
def _judge(now: int, past: Floats, cost: Floats, share: Floats, gained: Floats, apart: Floats) -> None:
    for span, middle in enumerate(_MIDDLES):
        if now < middle:
            break
        then = (now - middle) % HORIZON_WINDOWS
        gained[span] -= FORGET * gained[span]
        apart[span] -= FORGET * apart[span]
        for o in range(len(cost)):
            one, other = past[then, 0, span, o], past[then, 1, span, o]
            gained[span] += share[o] * (other - one) * (cost[o] - one)
            apart[span] += share[o] * (other - one) ** 2
