"""What a task gets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Slots:
    """The ranks a task runs on, in ascending order, with the node, the GPUs and the cores of each of them."""

    ranks: tuple[int, ...]
    nodes: tuple[int, ...]
    """Index into the allocation's nodes, one for each rank."""
    gpus: tuple[tuple[int, ...], ...] = ()
    """GPU numbers on that node, one tuple for each rank; empty when the task asked for none."""
    cores: tuple[tuple[int, ...], ...] = ()
    """Core numbers on that node, one tuple for each rank; empty when the task did not ask for a number of them."""
