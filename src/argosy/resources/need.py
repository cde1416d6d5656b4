"""What one task asks for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """What one task asks for. A rank never spans two nodes; the ranks of a task may."""

    ranks: int = 1
    cores_per_rank: int = 1
    gpus_per_rank: float = 0
    """A fraction below one shares a GPU; one or more must be whole."""
    nbytes_per_rank: int = 0
    """Upper bound of the memory it adds to its process, not a hint."""
    held_to_cores: bool = False
    """Its ranks run on cores of their own, and their libraries with as many threads."""

    def __post_init__(self) -> None:
        if self.ranks < 1:
            raise ValueError(f"a task needs at least 1 rank, not {self.ranks}")
        if self.cores_per_rank < 1:
            raise ValueError(f"a rank needs at least 1 core, not {self.cores_per_rank}")
        if self.gpus_per_rank < 0 or (self.gpus_per_rank > 1 and self.gpus_per_rank != int(self.gpus_per_rank)):
            raise ValueError(
                f"gpus must be a fraction of one GPU (0.25) or a whole number of them (2), not {self.gpus_per_rank}"
            )
        if self.nbytes_per_rank < 0:
            raise ValueError(f"memory must not be negative: {self.nbytes_per_rank}")
