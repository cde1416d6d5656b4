"""Policies that were learnt, behind the protocol of planning: they see the past of one run and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Set
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from argosy.memory.learning.features import Features, round_trip_seconds
from argosy.memory.learning.guard import Guarded
from argosy.memory.learning.network import Weights, check, load, worth_of
from argosy.memory.learning.swaps import Terms, settle
from argosy.memory.planning.online import Hysteresis
from argosy.memory.planning.policy import Observation, Policy

Worth = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From [objects, features] to what each is worth in fast memory, in round trips."""


class ByWorth:
    """Swaps as long as one pays, by what a learnt function says that each object is worth."""

    def __init__(self, worth: Worth) -> None:
        self._worth = worth
        self._features = Features(0)

    def decide(self, observation: Observation) -> Set[int]:
        if observation.step == 0:
            self._features = Features(len(observation.sizes))
        worth = self._worth(self._features.see(observation)) * round_trip_seconds(observation)
        return {int(o) for o in np.flatnonzero(settle(worth, observation.resident, Terms.of(observation)))}


def by_network(weights: Weights) -> ByWorth:
    check(weights)
    return ByWorth(lambda features: worth_of(weights, features))


def learned_policy(path: str | Path | None = None, *, guarded: bool = True) -> Policy:
    """What was learnt, with the shipped weights or those of a file that `train` wrote. One is for one run at a time.

    Greedy with hysteresis leads until the learnt one would have done better, and again whenever it would have done
    worse, unless `guarded` is False.
    """
    learnt = by_network(load(path))
    return Guarded([Hysteresis(), learnt]) if guarded else learnt
