"""What one rank of a task takes from its node, in whole numbers."""

from __future__ import annotations

from typing import NamedTuple

from argosy.resources import Need

PARTS = 1_000_000
"""A GPU is shared in millionths, so that adding and taking away never drifts."""


class Shape(NamedTuple):
    """What one rank takes, besides itself."""

    cores: int
    gpu_parts: int
    """Millionths of one GPU, or whole GPUs times a million."""
    nbytes: int

    @property
    def whole_gpus(self) -> int:
        return self.gpu_parts // PARTS


PLAIN = Shape(1, 0, 0)


def shape_of(need: Need) -> Shape:
    """Rounded down (three ranks of a third share one GPU), but never down to nothing."""
    parts = int(need.gpus_per_rank * PARTS + 1e-3)
    return Shape(need.cores_per_rank, parts or (1 if need.gpus_per_rank else 0), need.nbytes_per_rank)
