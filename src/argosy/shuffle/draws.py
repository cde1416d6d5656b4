"""Random numbers that every rank can draw for itself: each follows from a seed, an epoch and what it is for."""

from __future__ import annotations

from operator import index

import numpy as np
from numpy.typing import NDArray

_WORD = 2**64
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def generator(seed: int, epoch: int, stream: int) -> np.random.Generator:
    """Philox makes any number of streams from one key: seed and epoch are the key, the stream is the top of its
    counter, so no two of them ever meet."""
    words = [index(number) % _WORD for number in (seed, epoch)]  # a NumPy integer cannot be divided by 2**64
    key = np.array(words, np.uint64)  # in a list they would become floats on the way
    return np.random.Generator(np.random.Philox(key=key, counter=np.array([0, 0, 0, stream], np.uint64)))


def scattered(keys: NDArray[np.uint64], numbers: NDArray[np.int64], below: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each key and number a value from 0 to `below - 1`, which looks random and depends on nothing else."""
    bits = numbers.astype(np.uint64)
    bits *= _STEP
    bits += keys
    for shift, factor in ((30, _MIX[0]), (27, _MIX[1])):
        bits ^= bits >> np.uint64(shift)
        bits *= factor
    bits >>= np.uint64(32)
    bits *= below.view(np.uint64)  # both below 2**32
    bits >>= np.uint64(32)
    values: NDArray[np.int64] = bits.view(np.int64)
    return values
