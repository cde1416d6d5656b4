"""Pairs of rows with equal keys, bucket by bucket, so that a bucket's table and keys stay in cache.

A bucket's rows lie in one segment for each rank they came from: `starts[source, bucket]` and `counts[source, bucket]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argosy.frame.kernels.compile import inline, kernel
from argosy.frame.kernels.hashing import U, slot
from argosy.frame.kernels.words import address, same

INNER, SEMI, ANTI = 0, 1, 2


@inline
def _shift(num_rows: Any) -> Any:
    """For a table of `2 ** (32 - shift)` slots, at least two for each row."""
    shift = 31
    while shift > 0 and np.int64(1) << (32 - shift) < 2 * num_rows:
        shift -= 1
    return shift


@inline
def _chain(
    codes: Any, starts: Any, counts: Any, bucket: Any, buckets: Any, shift: Any, heads: Any, next_row: Any
) -> None:
    """The rows of a bucket by slot: the first in `heads`, each further one in `next_row` of the one before."""
    heads[: np.int64(1) << (32 - shift)] = -1
    for source in range(starts.shape[0] - 1, -1, -1):
        start = starts[source, bucket]
        for row in range(start + counts[source, bucket] - 1, start - 1, -1):
            at = slot(codes[row], buckets, U(shift))
            next_row[row] = heads[at]
            heads[at] = row


_KEYS = "uint64[::1], int64[::1], uint8[::1], int64[:, ::1], int64[:, ::1]"


@kernel(
    f"Tuple((int64, int64, int64))({_KEYS}, {_KEYS}, int64, boolean, int64, boolean, boolean, int64, "
    "int32[::1], uint8[::1], int32[::1], int32[::1])"
)
def join_pairs(
    left: Any,
    left_offsets: Any,
    left_data: Any,
    left_starts: Any,
    left_counts: Any,
    right: Any,
    right_offsets: Any,
    right_data: Any,
    right_starts: Any,
    right_counts: Any,
    total_buckets: Any,
    exact: Any,
    kind: Any,
    keep_left: Any,
    keep_right: Any,
    first_bucket: Any,
    next_row: Any,
    matched: Any,
    left_rows: Any,
    right_rows: Any,
) -> Any:
    """Writes pairs of rows from `first_bucket` on, until a bucket does not fit; returns the number of pairs, the bucket
    to go on with, and the pairs that one needs.

    `total_buckets` are those of all ranks. `exact`: equal codes are equal keys; otherwise the bytes decide.
    `keep_left` and `keep_right` also write the rows
    without a partner, with -1 in its place. `next_row` has a cell for each right row; so has `matched`, of zeros, with
    `keep_right`. With SEMI and ANTI a left row is written once, with a right row of -1.
    """
    num_sources, num_buckets = left_starts.shape
    capacity = left_rows.size
    heads = np.empty(1024, np.int32)
    filled = 0
    buckets = U(total_buckets)
    left_base = address(left_data)
    right_base = address(right_data)
    for bucket in range(first_bucket, num_buckets):
        num_right = 0
        num_left = 0
        for source in range(num_sources):
            num_left += left_counts[source, bucket]
        for source in range(right_starts.shape[0]):
            num_right += right_counts[source, bucket]
        if num_left == 0 and (num_right == 0 or not keep_right):
            continue
        shift = _shift(num_right)
        if np.int64(1) << (32 - shift) > heads.size:
            heads = np.empty(np.int64(1) << (32 - shift), np.int32)
        _chain(right, right_starts, right_counts, bucket, buckets, shift, heads, next_row)
        n = filled
        for source in range(num_sources):
            start = left_starts[source, bucket]
            for row in range(start, start + left_counts[source, bucket]):
                key = left[row]
                candidate = heads[slot(key, buckets, U(shift))]
                found = False
                while candidate >= 0:
                    equal = right[candidate] == key
                    if equal and not exact:
                        at = left_offsets[row]
                        length = left_offsets[row + 1] - at
                        other_at = right_offsets[candidate]
                        equal = right_offsets[candidate + 1] - other_at == length and same(
                            left_base + at, right_base + other_at, length
                        )
                    if equal:
                        found = True
                        if kind != INNER:
                            break
                        if n < capacity:
                            left_rows[n] = row
                            right_rows[n] = candidate
                        n += 1
                        if keep_right:
                            matched[candidate] = 1
                    candidate = next_row[candidate]
                if (keep_left and not found) or (kind == SEMI and found) or (kind == ANTI and not found):
                    if n < capacity:
                        left_rows[n] = row
                        right_rows[n] = -1
                    n += 1
        if keep_right:
            for source in range(right_starts.shape[0]):
                start = right_starts[source, bucket]
                for row in range(start, start + right_counts[source, bucket]):
                    if matched[row] == 0:
                        if n < capacity:
                            left_rows[n] = -1
                            right_rows[n] = row
                        n += 1
        if n > capacity:
            return filled, bucket, n - filled
        filled = n
    return filled, num_buckets, 0


@kernel(
    "Tuple((int64, int64, int64))(uint64[::1], int64[:, ::1], int64[:, ::1], uint64[::1], int64[:, ::1], "
    "int64[:, ::1], int64, int64, int32[::1], int32[::1], int32[::1])"
)
def join_exact(
    left: Any,
    left_starts: Any,
    left_counts: Any,
    right: Any,
    right_starts: Any,
    right_counts: Any,
    total_buckets: Any,
    first_bucket: Any,
    next_row: Any,
    left_rows: Any,
    right_rows: Any,
) -> Any:
    """`join_pairs` for an inner join of exact codes, without a branch that depends on the keys."""
    num_sources, num_buckets = left_starts.shape
    capacity = left_rows.size
    heads = np.empty(1024, np.int32)
    filled = 0
    buckets = U(total_buckets)
    for bucket in range(first_bucket, num_buckets):
        num_right = 0
        for source in range(right_starts.shape[0]):
            num_right += right_counts[source, bucket]
        if num_right == 0:
            continue
        shift = _shift(num_right)
        if np.int64(1) << (32 - shift) > heads.size:
            heads = np.empty(np.int64(1) << (32 - shift), np.int32)
        _chain(right, right_starts, right_counts, bucket, buckets, shift, heads, next_row)
        n = filled
        for source in range(num_sources):
            start = left_starts[source, bucket]
            for row in range(start, start + left_counts[source, bucket]):
                key = left[row]
                candidate = heads[slot(key, buckets, U(shift))]
                while candidate >= 0:
                    if n < capacity:
                        left_rows[n] = row
                        right_rows[n] = candidate
                    n += 1 if right[candidate] == key else 0
                    candidate = next_row[candidate]
        if n > capacity:
            return filled, bucket, n - filled
        filled = n
    return filled, num_buckets, 0


@kernel("int64(int64[::1], uint8[::1], int64[::1], uint8[::1], int32[::1], int32[::1])")
def drop_unequal(
    left_offsets: Any, left_data: Any, right_offsets: Any, right_data: Any, left_rows: Any, right_rows: Any
) -> Any:
    """Of pairs with equal hashes, keep those with equal bytes, and pairs with a missing partner; returns how many."""
    left_base = address(left_data)
    right_base = address(right_data)
    kept = 0
    for i in range(left_rows.size):
        row = left_rows[i]
        other = right_rows[i]
        left_rows[kept] = row
        right_rows[kept] = other
        if row < 0 or other < 0:
            kept += 1
            continue
        at = left_offsets[row]
        length = left_offsets[row + 1] - at
        other_at = right_offsets[other]
        if right_offsets[other + 1] - other_at == length and same(left_base + at, right_base + other_at, length):
            kept += 1
    return kept
