"""What we were given: the nodes, and what each of them has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One machine. Its ranks are worker processes; a core, a GPU or a byte is claimed by one task at a time."""

    name: str
    ranks: int
    cores: int
    gpus: int = 0
    nbytes: int = 0
    gpu_names: tuple[str, ...] = ()
    """What CUDA calls each GPU: a number, a UUID, a MIG id. Its number among them, unless told."""

    def gpu_name(self, gpu: int) -> str:
        return self.gpu_names[gpu] if self.gpu_names else str(gpu)


@dataclass(frozen=True, kw_only=True, slots=True)
class Allocation:
    """The nodes, in the order of their neighbourhood. Ranks are numbered through them, node after node."""

    nodes: tuple[Node, ...]

    @property
    def num_ranks(self) -> int:
        return sum(node.ranks for node in self.nodes)

    def node_of_each_rank(self) -> list[int]:
        """The index of the node that each rank runs on."""
        return [index for index, node in enumerate(self.nodes) for _ in range(node.ranks)]
