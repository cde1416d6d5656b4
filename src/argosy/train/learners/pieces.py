"""Which samples of a rank's batch go through the model together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

_MOST = 1024
"""Samples of several workers that go together, where they do not see one another anyway."""


Meeting = Literal["never", "may", "must"]
"""Whether samples of different workers go through the model together: what BatchNorm makes of one depends on it."""


def pieces_of(bounds: Sequence[int], *, meeting: Meeting, accumulate: int) -> list[tuple[int, int]]:
    """Parts of the batch, each of which is one forward and backward pass.

    `accumulate`: into how many passes a worker's samples are divided, to save memory; 1 leaves small workers together
    where they may be.
    """
    if meeting != "never" and accumulate == 1 and len(bounds) > 2:
        count = 1 if meeting == "must" else -(-bounds[-1] // _MOST)
        cuts = [bounds[-1] * index // count for index in range(count + 1)]
        return list(pairwise(cuts))
    pieces = []
    for low, high in pairwise(bounds):
        count = min(accumulate, high - low)
        cuts = [low + (high - low) * index // count for index in range(count + 1)]
        pieces += list(pairwise(cuts))
    return pieces
