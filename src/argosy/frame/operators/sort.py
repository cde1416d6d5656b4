"""Sort a frame: rows of rank 0 come first, then those of rank 1, and so on.

The pass that decides a row's rank also decides its range on that rank; each range is then sorted in cache. Rows with
one frequent key are split over ranks in their order, so the sort stays stable and even.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from argosy.comm.ranks import Alone, Ranks
from argosy.frame.exchange import Buckets, exchange
from argosy.frame.flat import NO_MASK, Fixed, Flat, as_arrow, flatten, unflatten
from argosy.frame.gather import gather
from argosy.frame.keys import Codes, key_column
from argosy.frame.partitioning import buckets_per_rank
from argosy.frame.ranges import choose_splitters, range_buckets, sample_codes
from argosy.frame.sort_keys import SortCodes, SortOrder
from argosy.frame.sorted_rows import order_of
from argosy.frame.spread import key_flat


def sort(table: pa.Table, by: Sequence[str], descending: Sequence[bool], nulls_first: bool, ranks: Ranks) -> pa.Table:
    total = sum(ranks.allgather(table.num_rows))
    if total == 0:
        return table
    keys = [key_column(table.column(name)) for name in by]
    order = SortOrder(keys, descending, nulls_first, ranks)
    codes = order.codes(keys)
    per_rank = buckets_per_rank(total, ranks.size)
    sample = sample_codes(codes.values, codes.flip, NO_MASK, ranks.size * per_rank, ranks)
    splitters = choose_splitters(sample, ranks.size * per_rank)
    buckets = range_buckets(codes.values, codes.flip, NO_MASK, splitters, per_rank)
    if ranks.size > 1:
        _split_frequent(codes, buckets, splitters, sample, ranks)
    del codes, keys
    arrived = exchange([flatten(column) for column in table.columns], buckets, ranks)
    del buckets
    here = [key_flat(arrived.columns[table.schema.get_field_index(name)]) for name in by]
    here_codes = order.codes(here)
    reads_back = here[0].type == table.schema.field(by[0]).type and _reads_back(here, here_codes)
    rows, ordered = order_of(here_codes, arrived.starts, arrived.counts, reads_back)
    flip = here_codes.flip
    del here, here_codes
    columns = []
    for index, name in enumerate(table.column_names):
        if reads_back and name == by[0]:
            columns.append(unflatten(Fixed(table.schema.field(name).type, ordered ^ flip)))
        else:
            columns.append(gather(arrived.columns[index], rows))
        arrived.columns[index] = None  # type: ignore[call-overload]
    return pa.table(columns, schema=table.schema) if columns else table


def local_sort(table: pa.Table, by: Sequence[str], descending: Sequence[bool], nulls_first: bool) -> pa.Table:
    return sort(table, by, descending, nulls_first, Alone())


def _reads_back(keys: Sequence[Flat], codes: SortCodes) -> bool:
    """Whether the sorted codes are the sorted column itself, but for `flip`."""
    return len(keys) == 1 and isinstance(keys[0], Fixed) and codes.values is keys[0].values


def _split_frequent(codes: SortCodes, buckets: Buckets, splitters: Codes, sample: Codes, ranks: Ranks) -> None:
    """Spread the rows of a code that holds half a rank's share or more over the ranks that its place in the order
    covers. Where all of them are equal, only their own order, by source and row, has to be kept."""
    per_rank, size = buckets.per_rank, ranks.size
    values = np.unique(splitters)
    lows, highs = np.searchsorted(sample, values, "left"), np.searchsorted(sample, values, "right")
    is_frequent = (highs - lows) * 2 * size >= len(sample)
    for value, low, high in zip(values[is_frequent], lows[is_frequent], highs[is_frequent], strict=True):
        rows = np.flatnonzero(codes.values == (value ^ codes.flip))
        counts = ranks.allgather(len(rows))
        total = sum(counts)
        if total == 0 or not _are_equal(codes, rows, ranks):
            continue
        usual = int(np.searchsorted(splitters, value, "right"))
        owners = np.arange(usual // per_rank + 1)
        cuts = np.ceil((owners[1:] * len(sample) / size - low) / (high - low) * total) - sum(counts[: ranks.rank])
        shares = np.diff(np.clip(cuts, 0, len(rows)), prepend=0, append=len(rows)).astype(np.int64)
        ids = (owners + 1) * per_rank - 1  # the last range of each rank, but for the one where they belong
        ids[-1] = usual
        buckets.num_rows[usual] -= len(rows)
        np.add.at(buckets.num_rows, ids, shares)
        buckets.ids[rows] = np.repeat(ids, shares)


def _are_equal(codes: SortCodes, rows: NDArray[np.int64], ranks: Ranks) -> bool:
    """Whether these rows of one code have one key, on all ranks. Collective."""
    if codes.offsets is None or codes.data is None:
        return True
    buffers = [None, pa.py_buffer(np.ascontiguousarray(codes.offsets)), pa.py_buffer(codes.data)]
    keys = pa.Array.from_buffers(pa.large_binary(), len(codes.offsets) - 1, buffers).take(as_arrow(rows))
    ends = pc.min_max(keys)
    mine = {ends["min"].as_py(), ends["max"].as_py()} if len(keys) else set()
    return len(set().union(*ranks.allgather(mine))) == 1
