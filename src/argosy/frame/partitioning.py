"""How many buckets, and which rows go to which."""

from __future__ import annotations

import numpy as np

from argosy.frame.buffers import empty
from argosy.frame.exchange import Buckets
from argosy.frame.flat import NO_MASK, Mask
from argosy.frame.kernels import partition
from argosy.frame.keys import Codes

ROWS_PER_BUCKET = 1 << 13
"""A table of so many keys, and their rows, fit into a core's second cache."""
MAX_FANOUT = 1 << 10
"""More streams than this at once, and writing them goes less well through the cache."""
MANY_ROWS_PER_BUCKET, MOST_FANOUT = 1 << 15, 1 << 12
"""Buckets as large as this cost more than a few streams too many."""


def buckets_per_rank(num_rows: int, num_ranks: int) -> int:
    """`num_rows`: of the whole frame. The same on all ranks when that is."""
    wanted = 1
    for most, rows_per_bucket in ((MAX_FANOUT, ROWS_PER_BUCKET), (MOST_FANOUT, MANY_ROWS_PER_BUCKET)):
        while wanted * num_ranks * rows_per_bucket < num_rows and wanted * num_ranks * 2 <= most:
            wanted *= 2
    return wanted


def hash_buckets(hashes: Codes, valid: Mask, num_ranks: int, per_rank: int) -> Buckets:
    """Rows by the hash of their key; those that are not valid stay where they are, outside all buckets."""
    num_buckets = num_ranks * per_rank
    ids = empty(len(hashes), np.uint16)
    num_rows = np.zeros(num_buckets + 1, np.int64)
    partition.bucket_ids(hashes, valid if valid.size else NO_MASK, num_buckets, ids, num_rows)
    return Buckets(ids, num_rows, per_rank)
