"""Partition once: one pass decides each row's bucket, and every column is scattered straight into bucket order."""

from __future__ import annotations

from typing import Any

import numpy as np

from argosy.frame.kernels.compile import kernel
from argosy.frame.kernels.hashing import HALF, U, spread
from argosy.frame.kernels.words import address, copy

MAX_BUCKETS = 1 << 16


@kernel("void(uint64[::1], uint8[::1], int64, uint16[::1], int64[::1])")
def bucket_ids(hashes: Any, valid: Any, num_buckets: Any, ids: Any, num_rows: Any) -> None:
    """The bucket of each row and the rows of each bucket; a row that is not valid goes to the one past the last.

    An empty `valid` means that all are.
    """
    buckets = U(num_buckets)
    if valid.size == 0:
        for i in range(hashes.size):
            bucket = spread(hashes[i], buckets) >> HALF
            ids[i] = bucket
            num_rows[bucket] += 1
    else:
        for i in range(hashes.size):
            bucket = spread(hashes[i], buckets) >> HALF
            if valid[i] == 0:
                bucket = buckets
            ids[i] = bucket
            num_rows[bucket] += 1


@kernel("void(uint16[::1], int64[::1], int32[::1])")
def positions(ids: Any, next_row: Any, at: Any) -> None:
    """Where each row goes, given where each bucket begins; rows of a bucket keep their order."""
    for i in range(ids.size):
        bucket = ids[i]
        row = next_row[bucket]
        at[i] = row
        next_row[bucket] = row + 1


@kernel(
    "void(uint8[::1], int32[::1], uint8[::1])",
    "void(uint32[::1], int32[::1], uint32[::1])",
    "void(uint64[::1], int32[::1], uint64[::1])",
)
def scatter(values: Any, at: Any, out: Any) -> None:
    for i in range(values.size):
        out[at[i]] = values[i]


@kernel()
def scatter_wide(values: Any, at: Any, out: Any) -> None:
    """Values of several bytes each, as the rows of a two-dimensional array."""
    width = values.shape[1]
    for i in range(values.shape[0]):
        row = at[i]
        for k in range(width):
            out[row, k] = values[i, k]


@kernel(
    "void(int32[::1], uint16[::1], int64[::1], uint32[::1])", "void(int64[::1], uint16[::1], int64[::1], uint32[::1])"
)
def string_lengths(offsets: Any, ids: Any, nbytes: Any, lengths: Any) -> None:
    """The length of each string, and the bytes of each bucket."""
    for i in range(ids.size):
        length = offsets[i + 1] - offsets[i]
        lengths[i] = length
        nbytes[ids[i]] += length


@kernel(
    "void(int32[::1], uint8[::1], uint16[::1], int64[::1], uint8[::1])",
    "void(int64[::1], uint8[::1], uint16[::1], int64[::1], uint8[::1])",
)
def scatter_strings(offsets: Any, data: Any, ids: Any, next_byte: Any, out: Any) -> None:
    """The bytes of each string, given where the bytes of each bucket begin."""
    base = address(data)
    out_base = address(out)
    for i in range(ids.size):
        bucket = ids[i]
        to = next_byte[bucket]
        at = np.int64(offsets[i])
        length = np.int64(offsets[i + 1]) - at
        copy(base + at, out_base + to, length)
        next_byte[bucket] = to + length


@kernel("void(uint32[::1], int64[::1])", "void(uint32[::1], int32[::1])")
def offsets_of(lengths: Any, offsets: Any) -> None:
    total = np.int64(0)
    offsets[0] = 0
    for i in range(lengths.size):
        total += lengths[i]
        offsets[i + 1] = total
