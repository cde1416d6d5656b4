"""Which worker reads which samples in which epoch, for one share that is exchanged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argosy.bench.locality.shards import Ids, arrangement
from argosy.shuffle.holdings import Holdings, dealt, kept
from argosy.shuffle.order import local_order


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The first epoch is read as the samples lie at the start; before each other one a share is exchanged."""

    holdings: Holdings
    arranged: Ids
    """The sample that each number of the holdings stands for."""

    def epoch(self, number: int) -> Ids:
        """[workers, samples of a worker], in reading order: each worker's `line_of`, worked out for all at once."""
        num_workers = len(self.holdings.sizes)
        held = self.holdings.held(range(self.holdings.num_samples), number).reshape(num_workers, -1)
        seed, size = self.holdings.seed, held.shape[1]
        orders = [local_order(size, rank=worker, seed=seed, epoch=number) for worker in range(num_workers)]
        lines: Ids = self.arranged[np.take_along_axis(held, np.stack(orders), axis=1)]
        return lines


def reading_of(labels: Ids, num_workers: int, *, shards: str, fraction: float, seed: int) -> Reading:
    """A fraction of 1 is global shuffling: dealt at random from the first epoch on, however the shards lay."""
    if fraction == 1:
        holdings = dealt(len(labels), num_workers, fraction=fraction, seed=seed)
        return Reading(holdings=holdings, arranged=np.arange(len(labels)))
    arranged = arrangement(labels, num_workers, shards, seed)
    holdings = kept((len(labels) // num_workers,) * num_workers, fraction=fraction, seed=seed)
    return Reading(holdings=holdings, arranged=arranged)
