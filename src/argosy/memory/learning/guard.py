"""Second opinions: of several policies the one leads that would have done better of late.

Each of them lives on in a shadow, a placement that follows its own decisions from the start. What a window costs is
seen for every object, fast or slow, so all shadows are priced exactly as well as the one that is followed. When the
one that leads has cost more of late than another, by more than it takes to move to the other's placement, the other
takes the lead. The first of them leads to begin with.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

import numpy as np

from argosy.memory.learning.swaps import Bools, Floats
from argosy.memory.planning.policy import Observation, Policy

FORGET = 0.01
"""How much of what was spent is forgotten in a window."""


class Guarded:
    """Follows the first of these policies until another has been cheaper. Each must be a policy of its own."""

    def __init__(self, policies: Sequence[Policy]) -> None:
        self._policies = tuple(policies)
        self._shadows = np.zeros((0, 0), dtype=np.bool_)
        self._spent = np.zeros(0)
        self.leader = 0

    def decide(self, observation: Observation) -> Set[int]:
        if observation.step == 0:
            self._shadows = np.repeat(observation.resident[None, :], len(self._policies), axis=0)
            self._spent = np.zeros(len(self._policies))
            self.leader = 0
        self._spent = (1.0 - FORGET) * self._spent + ~self._shadows @ observation.recent
        wanted = np.zeros_like(self._shadows)
        for who, policy in enumerate(self._policies):
            wanted[who, list(policy.decide(replace(observation, resident=self._shadows[who].copy())))] = True
        self._spent += _moves(observation, self._shadows, wanted)
        self._shadows = wanted
        ahead = self._spent[self.leader] - self._spent - _moves(observation, wanted[self.leader], wanted)
        ahead[self.leader] = 0.0
        self.leader = int(np.argmax(ahead))
        return {int(o) for o in np.flatnonzero(self._shadows[self.leader])}


def _moves(observation: Observation, before: Bools, after: Bools) -> Floats:
    """[policies] seconds from one placement to another."""
    sizes, moves = observation.sizes.astype(np.float64), observation.moves
    fetched, evicted = (after & ~before) @ sizes, (before & ~after) @ sizes
    seconds: Floats = fetched * moves.fetch_seconds_per_byte + evicted * moves.evict_seconds_per_byte
    return seconds
