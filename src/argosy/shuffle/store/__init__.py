"""Where a rank keeps its samples, and what an exchange needs of that place.

sources, loading   samples of whatever was given, brought in once
packing            a sample as bytes, and back
arena, pages       memory or disk that worker processes share
slots, chains      samples of one size; of different sizes
shard              a Dataset over them
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from argosy.shuffle.holdings import Ids, Moves

Bytes = NDArray[np.uint8]


class Store(Protocol):
    """The samples of one rank, in slots numbered from 0, in the arrangement of one epoch.

    Samples of the next epoch arrive beside those of the present one, which stay readable until `turn`. `read` and
    `arrive` are called by one background thread, while others read.
    """

    @property
    def sample_nbytes(self) -> int | None:
        """Bytes of every sample, on all ranks alike; None where they differ."""

    def sizes(self, slots: Ids) -> Ids:
        """Bytes of each of these samples, as they travel. Only asked where they differ."""

    def read(self, slots: Ids, sizes: Ids, into: Bytes) -> None:
        """Put these samples into the buffer, in this order; it has as many bytes as they have together."""

    def arrive(self, slots: Ids, sizes: Ids, packed: Bytes) -> None:
        """Samples from another rank's `read`, for these slots of the next epoch."""

    def turn(self, moves: Moves) -> None:
        """Begin the next epoch: what has arrived takes its slots, and what was sent away is forgotten."""
