"""Policies that were learnt, behind the protocol of planning: they see the past of a run and the name of what comes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Set
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from argosy.memory.costs import Costs
from argosy.memory.learning.features import FROM_HERE, PLANNED, Features, in_round_trips, round_trip_seconds
from argosy.memory.learning.guard import Guarded
from argosy.memory.learning.mixture import Typical
from argosy.memory.learning.network import Weights, check, load, worth_of
from argosy.memory.learning.swaps import Terms, settle
from argosy.memory.planning.online import Hysteresis, fill
from argosy.memory.planning.policy import Observation, Policy
from argosy.memory.planning.simulate import marginal

Worth = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From [objects, features] to what each is worth in fast memory, in round trips."""


class Primed:
    """A policy that has seen a typical window before the first one."""

    def __init__(self, policy: Policy, typical: Typical) -> None:
        self._policy = policy
        self._typical = typical

    def decide(self, observation: Observation) -> Set[int]:
        if observation.step == 0:
            return self._policy.decide(replace(observation, recent=self._typical.overall))
        return self._policy.decide(observation)


class Still:
    """The densest objects of the whole run are fast, from the first decision to the last."""

    def __init__(self, typical: Typical) -> None:
        self._seconds = typical.overall

    def decide(self, observation: Observation) -> Set[int]:
        order = np.argsort(-self._seconds / np.maximum(observation.sizes, 1), kind="stable")
        used = (int(o) for o in order if self._seconds[o] > 0)
        return fill(used, observation.sizes, observation.capacity)


class Memory:
    """The features of one run. Several policies may ask for those of one window, and what they have in common is made
    once."""

    def __init__(self, typical: Typical | None = None) -> None:
        self._typical = typical
        self._features = Features(0)
        self._last: Observation | None = None

    def before(self, observation: Observation, asker: Hashable) -> NDArray[np.float64]:
        """[n, COUNT]. A window is known by its name and by the array of costs before it, which all who ask must have
        from one observation."""
        last = self._last
        if last is None or observation.recent is not last.recent or observation.next_name != last.next_name:
            if observation.step == 0:
                self._features = Features(len(observation.sizes), in_round_trips(self._typical, observation))
            self._features.note(observation)
            self._last = observation
        return self._features.of(observation, asker)


class ByWorth:
    """Swaps as long as one pays, by what a function says that each object is worth."""

    def __init__(self, worth: Worth, memory: Memory | None = None) -> None:
        self._worth = worth
        self._memory = Memory() if memory is None else memory

    def decide(self, observation: Observation) -> Set[int]:
        worth = self._worth(self._memory.before(observation, id(self))) * round_trip_seconds(observation)
        return {int(o) for o in np.flatnonzero(settle(worth, observation.resident, Terms.of(observation)))}


def typical_of(costs: Costs) -> Typical:
    """In seconds, beside all the others in slow memory."""
    timeline = costs.per_occurrence()
    everything = np.ones(len(costs.objects), dtype=np.bool_)
    each = np.array([marginal(timeline, step, everything) for step in range(len(timeline.windows))])
    names = np.array(timeline.windows)
    return Typical(
        overall=each.mean(axis=0), by_name={str(name): each[names == name].mean(axis=0) for name in np.unique(names)}
    )


def by_network(weights: Weights, memory: Memory | None = None) -> ByWorth:
    check(weights)
    return ByWorth(lambda features: worth_of(weights, features), memory)


def by_plan(memory: Memory | None = None, column: int = PLANNED) -> ByWorth:
    """By what a plan on the expected future says, and nothing learnt before the run."""
    return ByWorth(lambda features: features[:, column], memory)


def learned_policy(path: str | Path | None = None, *, guarded: bool = True, costs: Costs | None = None) -> Policy:
    """What was learnt, with the shipped weights or those of a file that `train` wrote. One is for one run at a time.

    With the `costs` of an estimator it knows beforehand what each object costs in the mean window of a run and in that
    of each name, and not when those come: nothing else of them is used. Their objects must be those of the run, in the
    same order. Unless `guarded` is False, greedy with hysteresis (with costs: one placement for the whole run) leads
    until the network, a plan alone or, with costs, greedy would have done better, and so on; each knows as much as the
    others.
    """
    known = None if costs is None else typical_of(costs)
    memory = Memory(known)
    learnt = by_network(load(path), memory)
    if not guarded:
        return learnt
    ways = learnt, by_plan(memory), by_plan(memory, FROM_HERE)
    if known is None:
        return Guarded([Hysteresis(), *ways])
    return Guarded([Still(known), Primed(Hysteresis(), known), *ways])
