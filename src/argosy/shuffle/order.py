"""The order in which samples are read: drawn anew for every epoch, from nothing but numbers that all ranks know."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy import arguments
from argosy.shuffle.draws import generator
from argosy.shuffle.holdings import Holdings, dealt


def global_order(num_samples: int, *, seed: int, epoch: int) -> NDArray[np.int64]:
    """One order of all samples, the same on every rank and machine: a permutation of `range(num_samples)`."""
    count, epoch = _samples(num_samples), epoch_of(epoch)
    return _permutation(count, seed_of(seed), epoch, stream=0)


def local_order(num_samples: int, *, rank: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """One rank's own order of the samples in its shard; the other ranks can compute it too."""
    count, epoch, rank = _samples(num_samples), epoch_of(epoch), arguments.whole("rank", rank, least=0, most=2**31 - 1)
    return _permutation(count, seed_of(seed), epoch, stream=1 + rank)


def partial_order(
    num_samples: int, num_ranks: int, *, fraction: float = 0.1, seed: int = 0, epoch: int = 0
) -> list[NDArray[np.int64]]:
    """For each rank the samples that it reads in this epoch, in reading order: every sample exactly once.

    Epoch 0 is a random partition. Before every other epoch each rank gives away a share `fraction` of its samples, each
    to a rank drawn at random, which may be itself, and gets as many: 0 is local shuffling, 1 is global. Where the share
    is no whole number of samples it is rounded up or down by a draw, so that it is right in the mean.

    The time it takes does not grow with the epoch. `line_of` gives one rank's part alone.
    """
    epoch, seed = epoch_of(epoch), seed_of(seed)
    holdings = dealt(num_samples, num_ranks, fraction=fraction, seed=seed)
    held = holdings.held(range(num_samples), epoch)
    shards = np.split(held, holdings.starts[1:-1])
    return [_shuffled(shard, seed, epoch, stream=1 + rank) for rank, shard in enumerate(shards)]


def line_of(holdings: Holdings, rank: int, epoch: int) -> NDArray[np.int64]:
    """What one rank reads in this epoch, in reading order. It reads the slots that it holds in its `local_order`."""
    held = holdings.held(holdings.slots(rank), epoch)
    return _shuffled(held, holdings.seed, epoch, stream=1 + rank)


def _samples(given: int) -> int:
    return arguments.whole("num_samples", given, least=0, most=2**40)


def epoch_of(given: int) -> int:
    return arguments.whole("epoch", given, least=0, most=2**63 - 1, wanted="a whole number from 0 on")


def seed_of(given: int) -> int:
    return arguments.whole("seed", given, least=-(2**127), most=2**127 - 1)


def _permutation(num_samples: int, seed: int, epoch: int, *, stream: int) -> NDArray[np.int64]:
    return _shuffled(np.arange(num_samples, dtype=np.int64), seed, epoch, stream)


def _shuffled(samples: NDArray[np.int64], seed: int, epoch: int, stream: int) -> NDArray[np.int64]:
    generator(seed, epoch, stream).shuffle(samples)
    return samples
