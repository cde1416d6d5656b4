"""The order in which samples are read: drawn anew for every epoch, from nothing but numbers that all ranks know."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_WORD = 2**64


def global_order(num_samples: int, *, seed: int, epoch: int) -> NDArray[np.int64]:
    """One order of all samples, the same on every rank and machine: a permutation of `range(num_samples)`."""
    return _permutation(num_samples, seed, epoch, stream=0)


def local_order(num_samples: int, *, rank: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """One rank's own order of the samples in its shard; the other ranks can compute it too."""
    return _permutation(num_samples, seed, epoch, stream=1 + rank)


def _permutation(num_samples: int, seed: int, epoch: int, *, stream: int) -> NDArray[np.int64]:
    """Philox makes any number of streams from one key: seed and epoch are the key, the stream is the top of its
    counter, so no two of them ever meet."""
    key = np.array([seed % _WORD, epoch % _WORD], np.uint64)  # in a list they would become floats on the way
    bits = np.random.Philox(key=key, counter=np.array([0, 0, 0, stream], np.uint64))
    order: NDArray[np.int64] = np.random.Generator(bits).permutation(num_samples).astype(np.int64, copy=False)
    return order
