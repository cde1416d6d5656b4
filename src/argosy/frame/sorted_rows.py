"""The rows of one rank in order of some columns, by their numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from argosy.comm.ranks import Alone
from argosy.frame.buffers import empty
from argosy.frame.flat import Flat
from argosy.frame.kernels import sort as kernels
from argosy.frame.keys import Codes
from argosy.frame.sort_keys import SortCodes, SortOrder

_NO_CODES: Codes = np.empty(0, np.uint64)
Counts = NDArray[np.int64]


def order_of(codes: SortCodes, starts: Counts, counts: Counts, want_codes: bool) -> tuple[NDArray[np.int32], Codes]:
    """Rows that lie in ranges, in order; and their codes, if wanted."""
    num_rows = len(codes.values)
    if num_rows >= 1 << 31:
        raise MemoryError(f"{num_rows} rows on one rank are too many to sort at once; use more ranks")
    rows: NDArray[np.int32] = empty(num_rows, np.int32)
    ordered = _NO_CODES if codes.exact and not want_codes else empty(num_rows, np.uint64)
    kernels.sort_ranges(codes.values, codes.flip, starts, counts, ordered, rows)
    if codes.offsets is not None and codes.data is not None:
        kernels.sort_ties(ordered, rows, codes.offsets, codes.data, codes.skip)
    return rows, ordered


def sorted_rows(keys: Sequence[Flat]) -> NDArray[np.int32]:
    """All rows in order of these columns, nulls last."""
    codes = SortOrder(keys, [False] * len(keys), False, Alone()).codes(keys)
    starts, counts = np.zeros((1, 1), np.int64), np.full((1, 1), len(codes.values), np.int64)
    return order_of(codes, starts, counts, want_codes=False)[0]
