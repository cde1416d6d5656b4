"""Policies that were learnt, behind the protocol of planning: they see the past of one run and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from argosy.memory.costs import Costs, density
from argosy.memory.learning.features import PLANNED, Features, in_round_trips, round_trip_seconds
from argosy.memory.learning.guard import Guarded
from argosy.memory.learning.network import Weights, check, load, worth_of
from argosy.memory.learning.swaps import Terms, settle
from argosy.memory.planning.online import Hysteresis, fill
from argosy.memory.planning.policy import Observation, Policy

Worth = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From [objects, features] to what each is worth in fast memory, in round trips."""


class Primed:
    """A policy that has seen a typical window before the first one."""

    def __init__(self, policy: Policy, typical_seconds: NDArray[np.float64]) -> None:
        self._policy = policy
        self._typical_seconds = typical_seconds

    def decide(self, observation: Observation) -> Set[int]:
        if observation.step == 0:
            self._policy.decide(replace(observation, recent=self._typical_seconds))
        return self._policy.decide(replace(observation, step=observation.step + 1))


class Still:
    """The densest objects of the whole run are fast, from the first decision to the last."""

    def __init__(self, typical_seconds: NDArray[np.float64]) -> None:
        self._typical_seconds = typical_seconds

    def decide(self, observation: Observation) -> Set[int]:
        order = np.argsort(-self._typical_seconds / np.maximum(observation.sizes, 1), kind="stable")
        used = (int(o) for o in order if self._typical_seconds[o] > 0)
        return fill(used, observation.sizes, observation.capacity)


class Memory:
    """The features of one run. Several policies may ask for those of one window, and they are made once."""

    def __init__(self, typical_seconds: NDArray[np.float64] | None = None) -> None:
        self._typical_seconds = typical_seconds
        self._features = Features(0)
        self._seen: NDArray[np.float64] | None = None
        self._last = np.zeros((0, 0))

    def after(self, observation: Observation) -> NDArray[np.float64]:
        """[n, COUNT]. A window is known by its array of costs, which all who ask must have from one observation."""
        if observation.recent is not self._seen:
            if observation.step == 0:
                self._features = Features(len(observation.sizes), in_round_trips(self._typical_seconds, observation))
            self._seen, self._last = observation.recent, self._features.see(observation)
        return self._last


class ByWorth:
    """Swaps as long as one pays, by what a function says that each object is worth."""

    def __init__(self, worth: Worth, memory: Memory | None = None) -> None:
        self._worth = worth
        self._memory = Memory() if memory is None else memory

    def decide(self, observation: Observation) -> Set[int]:
        worth = self._worth(self._memory.after(observation)) * round_trip_seconds(observation)
        return {int(o) for o in np.flatnonzero(settle(worth, observation.resident, Terms.of(observation)))}


def typical_seconds(costs: Costs) -> NDArray[np.float64]:
    """[n] what each object costs in the mean window of a run by being slow, beside all the others in slow memory."""
    return density(costs) * np.maximum(np.asarray(costs.sizes), 1) / len(costs.order)


def by_network(weights: Weights, memory: Memory | None = None) -> ByWorth:
    check(weights)
    return ByWorth(lambda features: worth_of(weights, features), memory)


def by_plan(memory: Memory | None = None) -> ByWorth:
    """By what a plan on the expected future says, and nothing learnt before the run."""
    return ByWorth(lambda features: features[:, PLANNED], memory)


def learned_policy(path: str | Path | None = None, *, guarded: bool = True, costs: Costs | None = None) -> Policy:
    """What was learnt, with the shipped weights or those of a file that `train` wrote. One is for one run at a time.

    With the `costs` of an estimator it knows beforehand what each object costs in the mean window of a run, and not
    when: nothing else of them is used. Their objects must be those of the run, in the same order. Unless `guarded` is
    False, greedy with hysteresis leads until the network, a plan alone or (with costs) one placement for the whole run
    would have done better, and again whenever they would have done worse; it knows as much as they do.
    """
    known = None if costs is None else typical_seconds(costs)
    memory = Memory(known)
    learnt = by_network(load(path), memory)
    if not guarded:
        return learnt
    if known is None:
        return Guarded([Hysteresis(), learnt, by_plan(memory)])
    return Guarded([Primed(Hysteresis(), known), Still(known), learnt, by_plan(memory)])
