"""From measured steps and a budget of fast memory to a placement. Pure: no clock, no tensors.

An object that is slow is fast all the same while its layer runs. So fast memory holds the objects that stay, what can
never leave, and the slow objects that are needed at the same time:

    peak = fixed + sum of fast objects + max over groups of (sum of slow objects in the group)

The second sum is what the plan may fill; the last is set aside for it. Setting aside less is possible where the largest
groups are fast altogether, which is tried, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from argosy.errors import CapacityTooSmall
from argosy.memory.costs import Costs
from argosy.memory.planning.plan import Plan
from argosy.memory.planning.solve import plan
from argosy.train.offload.meter import WINDOWS, Step
from argosy.units import format_nbytes

_TRIES = 6
"""How many of the largest groups are tried to be fast altogether."""
_TIME_LIMIT_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """What must fit."""

    sizes: Mapping[str, int]
    """Bytes of each object."""
    fixed_nbytes: int
    """Of what can never leave fast memory."""
    groups: tuple[tuple[str, ...], ...]
    """Objects that are needed at the same time."""

    @property
    def need_nbytes(self) -> int:
        """With everything fast."""
        return self.fixed_nbytes + sum(self.sizes.values())

    @property
    def least_nbytes(self) -> int:
        """With everything slow."""
        return self.peak_nbytes(self.sizes)

    def aside_nbytes(self, slow: Collection[str]) -> int:
        """For slow objects while they are needed."""
        return max((sum(self.sizes[name] for name in group if name in slow) for group in self.groups), default=0)

    def peak_nbytes(self, slow: Collection[str]) -> int:
        fast = sum(nbytes for name, nbytes in self.sizes.items() if name not in slow)
        return self.fixed_nbytes + fast + self.aside_nbytes(slow)


def groups_of(layers: Sequence[str], sizes: Mapping[str, int], *, ahead: bool) -> tuple[tuple[str, ...], ...]:
    """What a layer's backward pass needs, with the activations of the layer before, which it reads; and what its update
    needs, when activations are gone. With `ahead` all of that for the layer before, too, which is fetched meanwhile."""
    groups = []
    for before, layer in zip([None, *layers], layers, strict=False):
        backward = [f"parameters:{layer}", f"activations:{layer}"]
        update = [f"parameters:{layer}", f"optimizer:{layer}"]
        if before is not None:
            backward.append(f"activations:{before}")
            if ahead:
                backward.append(f"parameters:{before}")
                update += [f"parameters:{before}", f"optimizer:{before}"]
        groups += [backward, update]
    return tuple(tuple(name for name in group if name in sizes) for group in groups)


def costs_of(serial: Sequence[Step], free: Sequence[Step], sizes: Mapping[str, int]) -> Costs:
    """Of one step. `serial`: steps with everything slow, in which each move was waited for. `free`: the same with moves
    that go on beside the computing, where they can.

    A window takes its computing plus its moves; where they go on side by side, the longer of the two, or what was seen
    with everything slow.
    """
    objects = tuple(sizes)
    moves = np.array(
        [[_median([step.moves.get((window, name), 0.0) for step in serial]) for name in objects] for window in WINDOWS]
    ).reshape(len(WINDOWS), len(objects))
    taken = np.array([_median([step.windows.get(window, 0.0) for step in serial]) for window in WINDOWS])
    computing = np.maximum(taken - moves.sum(axis=1), 0.0)
    if free:
        base = np.array([_median([step.windows.get(window, 0.0) for step in free]) for window in WINDOWS])
        base -= moves.sum(axis=1)
    return Costs(
        objects=objects,
        sizes=tuple(sizes.values()),
        windows=WINDOWS,
        order=tuple(range(len(WINDOWS))),
        floor=computing if free else np.full(len(WINDOWS), -np.inf),
        base=base if free else computing,
        slow=moves,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Estimated:
    """Costs, and the names of their tiers: what a plan asks for."""

    costs: Costs
    fast: str
    slow: str
    moves: None = None


def choose(costs: Costs, budget: Budget, nbytes: int, *, fast: str, slow: str) -> Plan:
    """The best placement found whose peak is at most `nbytes`. Raises `CapacityTooSmall`, which says the least."""
    check(budget, nbytes)
    estimated = _Estimated(costs=costs, fast=fast, slow=slow)
    if budget.need_nbytes <= nbytes:
        return plan(estimated, sum(budget.sizes.values()), must_be_fast=costs.objects)
    found: list[Plan] = []
    for must in _candidates(budget):
        aside = budget.aside_nbytes(set(budget.sizes) - must)
        room = nbytes - budget.fixed_nbytes - aside
        if sum(budget.sizes[name] for name in must) <= room:
            found.append(plan(estimated, room, must_be_fast=must, time_limit_seconds=_TIME_LIMIT_SECONDS))
    return min(found, key=lambda one: one.seconds)


def check(budget: Budget, nbytes: int) -> None:
    if nbytes < budget.least_nbytes:
        raise CapacityTooSmall(
            f"memory={format_nbytes(nbytes)} is too small to train this model in: {format_nbytes(budget.least_nbytes)} "
            f"({budget.least_nbytes} bytes) is the least, of which {format_nbytes(budget.fixed_nbytes)} cannot be "
            "offloaded and the rest is what the largest layer needs at once; give as much, or take smaller batches",
            least_nbytes=budget.least_nbytes,
        )


def _candidates(budget: Budget) -> list[set[str]]:
    """Objects that must be fast: none, or all of the largest group, of the two largest, and so on."""
    largest = sorted(budget.groups, key=lambda group: -sum(budget.sizes[name] for name in group))
    return [{name for group in largest[:count] for name in group} for count in range(min(_TRIES, len(largest)) + 1)]


def _median(values: Sequence[float]) -> float:
    return float(np.median(values))
