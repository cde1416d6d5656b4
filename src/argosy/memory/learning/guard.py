"""A second opinion: of two policies the one leads that would have done better of late.

Each of them lives on in a shadow, a placement that follows its own decisions from the start. What a window costs is
seen for every object, fast or slow, so all shadows are priced exactly as well as the one that is followed. When the
one that leads has cost more of late than the other, by more than it takes to move to the other's placement, the other
takes the lead.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

import numpy as np

from argosy.memory.planning.policy import Observation, Policy

FORGET = 0.02
"""How much of its regret is forgotten in a window."""


class Guarded:
    """Follows the first of these policies until another has been cheaper. Each must be a policy of its own."""

    def __init__(self, policies: Sequence[Policy], *, patience: float = 1.0) -> None:
        self._policies = tuple(policies)
        self._patience = patience
        self._shadows = np.zeros((0, 0), dtype=np.bool_)
        self._spent = np.zeros(0)
        self.leader = 0

    def decide(self, observation: Observation) -> Set[int]:
        if observation.step == 0:
            self._shadows = np.repeat(observation.resident[None, :], len(self._policies), axis=0)
            self._spent = np.zeros(len(self._policies))
            self.leader = 0
        sizes, moves = observation.sizes.astype(np.float64), observation.moves
        self._spent = (1.0 - FORGET) * self._spent + ~self._shadows @ observation.recent
        for who, policy in enumerate(self._policies):
            before = self._shadows[who]
            wanted = policy.decide(replace(observation, resident=before.copy()))
            after = np.zeros_like(before)
            after[list(wanted)] = True
            self._spent[who] += moves.seconds(float(sizes @ (after & ~before)), float(sizes @ (before & ~after)))
            self._shadows[who] = after
        best = int(np.argmin(self._spent))
        led, other = self._shadows[self.leader], self._shadows[best]
        across = moves.seconds(float(sizes @ (other & ~led)), float(sizes @ (led & ~other)))
        if self._spent[self.leader] - self._spent[best] > self._patience * across:
            self.leader = best
        return {int(o) for o in np.flatnonzero(self._shadows[self.leader])}
