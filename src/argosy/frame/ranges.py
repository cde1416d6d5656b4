"""Splitting codes into ranges of about equal size, from a sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.comm.ranks import Ranks
from argosy.frame.buffers import empty
from argosy.frame.exchange import Buckets
from argosy.frame.flat import Mask
from argosy.frame.kernels import sort as kernels
from argosy.frame.keys import Codes

_SAMPLES_PER_RANGE = 16
_FEWEST_SAMPLES = 1 << 12


def sample_codes(codes: Codes, flip: np.uint64, valid: Mask, num_ranges: int, ranks: Ranks) -> Codes:
    """Codes of rows drawn evenly from all ranks, in order. Ranks with more rows give more."""
    totals = ranks.allgather(len(codes))
    wanted = max(_SAMPLES_PER_RANGE * num_ranges, _FEWEST_SAMPLES)
    share = -(-wanted * len(codes) // max(sum(totals), 1))
    if len(codes) > share:
        generator = np.random.default_rng(ranks.rank)
        rows = generator.integers(0, len(codes), share)
    else:
        rows = np.arange(len(codes))
    if valid.size:
        rows = rows[valid[rows] != 0]
    mine = codes[rows] ^ flip
    return np.sort(np.concatenate(ranks.allgather(mine)))


def choose_splitters(sample: Codes, num_ranges: int) -> Codes:
    """`num_ranges - 1` codes; a range holds the codes from one splitter on, up to below the next."""
    if not len(sample):
        return np.zeros(num_ranges - 1, np.uint64)
    at = np.arange(1, num_ranges) * len(sample) // num_ranges
    return np.ascontiguousarray(sample[at])


def range_buckets(codes: Codes, flip: np.uint64, valid: Mask, splitters: Codes, per_rank: int) -> Buckets:
    """Rows by range; those that are not valid stay where they are, outside all ranges."""
    num_ranges = len(splitters) + 1
    low, shift, cells = _cells(splitters)
    ids = empty(len(codes), np.uint16)
    num_rows = np.zeros(num_ranges + 1, np.int64)
    kernels.range_ids(codes, flip, valid, splitters, low, shift, cells, ids, num_rows)
    return Buckets(ids, num_rows, per_rank)


def _cells(splitters: Codes) -> tuple[np.uint64, np.uint64, NDArray[np.uint16]]:
    # The first cell begins below the first splitter, so that codes below that find no splitter there.
    low = np.uint64(max(int(splitters[0]) - 1, 0)) if len(splitters) else np.uint64(0)
    span = int(splitters[-1]) - int(low) if len(splitters) else 0
    shift = np.uint64(max(0, span.bit_length() - kernels.CELL_BITS))
    cells = np.empty((1 << kernels.CELL_BITS) + 1, np.uint16)
    kernels.fill_cells(splitters, low, shift, cells)
    cells[-(int(low) - (1 << 64) >> int(shift)) :] = len(splitters)  # cells that begin past the largest code
    return low, shift, cells
