"""Which cores of its node each rank of a task is held to, where the task asked for a number of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from argosy.resources import Allocation, Slots


class Cores:
    """The books, by number, node by node. How many are free is `Capacity`'s affair: there are always enough here."""

    def __init__(self, allocation: Allocation) -> None:
        self._free = [(1 << node.cores) - 1 for node in allocation.nodes]
        """Per node a bit for each core."""

    def hold(self, slots: Slots, num_cores: int) -> Slots:
        """The slots with the lowest free cores of its node for each rank."""
        return replace(slots, cores=tuple(self._take(node, num_cores) for node in slots.nodes))

    def let_go(self, slots: Slots, ranks: Iterable[int]) -> None:
        """These ranks of the slots have left, or are lost."""
        if slots.cores:
            for rank in ranks:
                at = slots.ranks.index(rank)
                for core in slots.cores[at]:
                    self._free[slots.nodes[at]] |= 1 << core

    def _take(self, node: int, num_cores: int) -> tuple[int, ...]:
        taken = []
        free = self._free[node]
        for _ in range(num_cores):
            low = free & -free
            free ^= low
            taken.append(low.bit_length() - 1)
        self._free[node] = free
        return tuple(taken)
