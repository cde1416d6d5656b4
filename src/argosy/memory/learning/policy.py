"""Policies that were learnt, behind the protocol of planning: they see the past of a run and the name of what comes."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from argosy import arguments
from argosy.memory.costs import Costs
from argosy.memory.learning import foresight, network
from argosy.memory.learning.features import Features, in_round_trips, round_trip_seconds
from argosy.memory.learning.prices import Prices, one_on
from argosy.memory.learning.rehearsal import rehearse
from argosy.memory.learning.swaps import Floats, Terms, settle
from argosy.memory.learning.typical import Typical
from argosy.memory.learning.weights import load
from argosy.memory.moves import Moves
from argosy.memory.planning.policy import Observation, Policy
from argosy.memory.planning.simulate import marginal

Worth = Callable[[Floats], Floats]
"""From [objects, features] to what each is worth in fast memory, in round trips."""

Expect = Callable[[Observation], Floats]
"""What the windows to come will cost by each object being slow: [windows, objects], in seconds, some windows ahead."""

FIRST_ROUNDS = 80
ROUNDS = 12
"""Of settling prices, before the first window and before the others."""


class Rehearsed:
    """Before each window a schedule is made for those that are expected, and its first row is followed."""

    def __init__(self, expect: Expect) -> None:
        self._expect = expect
        self._prices = Prices()
        self._schedule = np.zeros((1, 0), dtype=np.bool_)

    def decide(self, observation: Observation) -> Set[int]:
        cost = np.ascontiguousarray(self._expect(observation))
        begins = observation.step == 0
        if begins:
            self._prices, self._schedule = Prices(), observation.resident[None, :]
        terms = Terms.of(observation)
        share = terms.sizes / max(terms.capacity, 1.0)
        rounds = FIRST_ROUNDS if begins else ROUNDS
        worth = self._prices.settle(cost, share, terms.fetch, terms.evict, observation.resident, rounds)
        before = one_on(self._schedule, len(cost))
        self._schedule = rehearse(
            cost, worth, terms.sizes, terms.fetch, terms.evict, terms.capacity, observation.resident, before
        )
        return {int(o) for o in np.flatnonzero(self._schedule[0])}


class ByWorth:
    """Swaps as long as one pays, by what a function says that each object is worth."""

    def __init__(self, worth: Worth, typical: Typical | None = None) -> None:
        self._worth = worth
        self._typical = typical
        self._features = Features(0)

    def decide(self, observation: Observation) -> Set[int]:
        if observation.step == 0:
            self._features = Features(len(observation.sizes), in_round_trips(self._typical, observation))
        worth = self._worth(self._features.see(observation)) * round_trip_seconds(observation)
        return {int(o) for o in np.flatnonzero(settle(worth, observation.resident, Terms.of(observation)))}


class Primed:
    """A policy that has seen a typical window before the first one."""

    def __init__(self, policy: Policy, typical: Typical) -> None:
        self._policy = policy
        self._typical = typical

    def decide(self, observation: Observation) -> Set[int]:
        if observation.step == 0:
            return self._policy.decide(replace(observation, recent=self._typical.overall))
        return self._policy.decide(observation)


def typical_of(costs: Costs) -> Typical:
    """In seconds, beside all the others in slow memory."""
    timeline = costs.per_occurrence()
    everything = np.ones(len(costs.objects), dtype=np.bool_)
    each = np.array([marginal(timeline, step, everything) for step in range(len(timeline.windows))])
    names = np.array(timeline.windows)
    return Typical(
        overall=each.mean(axis=0),
        by_name={str(name): each[names == name].mean(axis=0) for name in np.unique(names)},
        windows=len(names),
    )


def learned_policy(path: str | Path | None = None, *, costs: Costs | None = None) -> Policy:
    """What was learnt, with the shipped weights or those of a file that `train` wrote. One is for one run at a time.

    With the `costs` of an estimator it knows beforehand what each object costs in the mean window of a run and in that
    of each name, and how many windows there are, but not when those come: nothing else of them is used. Their objects
    must be those of the run, in the same order; a run may last longer. The first one on a machine is compiled, for
    some fifteen seconds, and the first one of a process loaded: here, and not in the first windows of a run.
    """
    if path is not None:
        arguments.path("path", path)
    if costs is not None:
        arguments.instance("costs", costs, Costs, "the costs of an estimator")
    _make_ready()
    return Rehearsed(foresight.Foresight(load(path, foresight.SHAPES), None if costs is None else typical_of(costs)))


@cache
def _make_ready() -> None:
    """Two windows of a run that there is not, so that all kernels are there."""
    nothing = {name: np.zeros(shape, dtype=np.float32) for name, shape in foresight.SHAPES.items()}
    for typical in (None, Typical(overall=np.ones(2), by_name={}, windows=2)):
        policy = Rehearsed(foresight.Foresight(nothing, typical))
        for step in range(2):
            seen = Observation(
                step=step,
                window_name="",
                sizes=np.ones(2, dtype=np.int64),
                resident=np.zeros(2, dtype=np.bool_),
                recent=np.ones(2),
                capacity=1,
                moves=Moves(fetch_seconds_per_byte=1.0, evict_seconds_per_byte=1.0),
            )
            policy.decide(seen)


def q_policy(path: str | Path | None = None, *, costs: Costs | None = None) -> Policy:
    """By the worths that deep Q-learning found; what it knows is the same."""
    return by_network(load(path, network.SHAPES), None if costs is None else typical_of(costs))


def by_network(weights: network.Weights, typical: Typical | None = None) -> ByWorth:
    return ByWorth(lambda features: network.worth_of(weights, features), typical)
