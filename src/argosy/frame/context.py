"""Where a plan runs: on which ranks, with how much memory, and with which folder to spill to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from argosy.comm.ranks import Ranks

_UNEVEN = 1.5
"""Parts are not of equal size: how much larger than the average one may be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    ranks: Ranks
    share_nbytes: int
    """What this rank may use for rows, all in all."""
    folder: Path
    """Where rows go that do not fit."""

    @property
    def batch_nbytes(self) -> int:
        """Of one table of a stream."""
        return max(self.share_nbytes // 16, 1 << 16)

    def num_rounds(self, peak_nbytes: float) -> int:
        """In how many parts an operation must be done, so that none needs more than its share. Collective."""
        worst = max(self.ranks.allgather(peak_nbytes / max(self.share_nbytes, 1)))
        return 1 if worst <= 1 else int(worst * _UNEVEN) + 1
