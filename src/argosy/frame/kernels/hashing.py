"""Hashes of keys: which bucket a row goes to, and which slot of a bucket's table.

The upper half of the mixed hash, as a fraction of the number of buckets, is the bucket; what is left of it is the slot.
Keys that lie close together spread evenly over both. The rank is `bucket // buckets_per_rank`, which is the same
whatever the number of buckets on a rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argosy.frame.kernels.compile import inline, kernel
from argosy.frame.kernels.words import address, load64, tail

U = np.uint64
_ODD = U(0x9E3779B97F4A7C15)
_MORE = U(0xD6E8FEB86659FD93)
HALF = U(32)


LOWER = U(0xFFFFFFFF)


@inline
def spread(value: Any, num_buckets: Any) -> Any:
    """The bucket in the upper half, and where in the bucket, as a fraction of 2**32, in the lower half."""
    return (((value ^ (value >> HALF)) * _ODD) >> HALF) * num_buckets


@inline
def slot(value: Any, num_buckets: Any, shift: Any) -> Any:
    """The slot of a table with `2 ** (32 - shift)` of them."""
    return (spread(value, num_buckets) & LOWER) >> shift


@kernel("void(uint64[::1], uint64[::1], boolean)")
def combine_hashes(hashes: Any, codes: Any, is_first: Any) -> None:
    """Fold one more key column into the hash of each row."""
    for i in range(codes.size):
        seed = U(0) if is_first else hashes[i]
        value = (codes[i] ^ (seed << U(7)) ^ (seed >> U(3))) + seed
        value = (value ^ (value >> HALF)) * _MORE
        hashes[i] = value ^ (value >> U(29))


@kernel("void(int32[::1], uint8[::1], uint64[::1])", "void(int64[::1], uint8[::1], uint64[::1])")
def hash_binary(offsets: Any, data: Any, hashes: Any) -> None:
    """A hash of each string: eight bytes at a time, begun with the length."""
    base = address(data)
    for i in range(hashes.size):
        at = np.int64(offsets[i])
        length = np.int64(offsets[i + 1]) - at
        at += base
        value = U(length) * _ODD
        while length > 8:
            value = (value ^ load64(at)) * _MORE
            value ^= value >> HALF
            at += 8
            length -= 8
        value = (value ^ tail(at, length)) * _MORE
        value ^= value >> HALF
        hashes[i] = value * _ODD
