"""Rows by their place in the frame: slices, samples, shuffles, even shares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from argosy.comm.ranks import Ranks
from argosy.frame.exchange import Buckets, exchange
from argosy.frame.flat import as_arrow, flatten, unflatten
from argosy.frame.gather import gather
from argosy.frame.rows import concat
from argosy.frame.spread import Spread

_ROUNDS = 4


def slice_rows(table: pa.Table, offset: int, length: int | None, ranks: Ranks) -> pa.Table:
    """Rows `offset` to `offset + length` of the whole; a negative offset counts from the end."""
    counts = ranks.allgather(table.num_rows)
    total, before = sum(counts), sum(counts[: ranks.rank])
    start = max(total + offset, 0) if offset < 0 else min(offset, total)
    stop = total if length is None else min(start + length, total)
    if offset < 0 and length is not None:
        stop = min(max(total + offset + length, 0), total)
    first = min(max(start - before, 0), table.num_rows)
    last = min(max(stop - before, 0), table.num_rows)
    return table.slice(first, max(last - first, 0))


def sample(table: pa.Table, num_rows: int | None, fraction: float | None, seed: int, ranks: Ranks) -> pa.Table:
    """The rows whose place in a shuffle by this seed comes first, in the order of the frame. Moves nothing."""
    counts = ranks.allgather(table.num_rows)
    total, before = sum(counts), sum(counts[: ranks.rank])
    wanted = min(num_rows, total) if num_rows is not None else round((fraction or 0.0) * total)
    places = permute(np.arange(before, before + table.num_rows, dtype=np.uint64), total, seed)
    return table.filter(as_arrow(places < wanted))


def shuffle(table: pa.Table, seed: int, ranks: Ranks) -> pa.Table:
    """Every row goes to its place in a permutation of all rows, which depends on their number and the seed alone."""
    if table.num_columns == 0:
        return table
    counts = ranks.allgather(table.num_rows)
    total, before = sum(counts), sum(counts[: ranks.rank])
    places = permute(np.arange(before, before + table.num_rows, dtype=np.uint64), total, seed).astype(np.int64)
    return _to_places(table, places, total, ranks)


def repartition(table: pa.Table, ranks: Ranks) -> pa.Table:
    """Even shares, in order."""
    counts = ranks.allgather(table.num_rows)
    total, before = sum(counts), sum(counts[: ranks.rank])
    if max(counts) - min(counts) <= 1 or ranks.size == 1:
        return table
    ids = _owners(np.arange(before, before + table.num_rows, dtype=np.int64), total, ranks.size)
    columns = exchange([flatten(column) for column in table.columns], _buckets(ids, ranks.size), ranks).columns
    return pa.table([unflatten(column) for column in columns], schema=table.schema) if columns else table


def one_after_another(first: pa.Table, second: pa.Table, ranks: Ranks) -> pa.Table:
    """All rows of the first, then all rows of the second, in even shares."""
    counts = ranks.allgather((first.num_rows, second.num_rows))
    totals = [sum(one) for one in zip(*counts, strict=True)]
    if ranks.size == 1 or first.num_columns == 0:
        return concat([first, second], first.schema)
    before = [sum(one) for one in zip(*counts[: ranks.rank], (0, 0), strict=True)]
    places = np.concatenate([np.arange(first.num_rows) + before[0], np.arange(second.num_rows) + totals[0] + before[1]])
    return _to_places(pa.concat_tables([first, second]), places.astype(np.int64), sum(totals), ranks)


def by_key(table: pa.Table, by: Sequence[str], ranks: Ranks) -> pa.Table:
    """Rows with equal values of these columns on one rank, the one that their hash says."""
    if ranks.size == 1:
        return table
    columns = Spread(table, by, 1, ranks, null_is_a_key=True).rows.columns
    return pa.table([unflatten(column) for column in columns], schema=table.schema)


def broadcast(table: pa.Table, ranks: Ranks) -> pa.Table:
    """All rows of all ranks, on each rank, in order."""
    if ranks.size == 1:
        return table
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    mine = np.frombuffer(sink.getvalue(), np.uint8)
    sizes = np.array(ranks.allgather(len(mine)), np.int64)
    receive_at = np.zeros(ranks.size + 1, np.int64)
    np.cumsum(np.where(np.arange(ranks.size) == ranks.rank, 0, sizes), out=receive_at[1:])
    received = np.empty(int(receive_at[-1]), np.uint8)
    going = [
        ranks.start_exchange(mine, _one_way(peer, len(mine), ranks), received, _from(receive_at, peer, ranks))
        for peer in range(1, ranks.size)
    ]
    for one in going:
        one.wait()
    tables = []
    for source in range(ranks.size):
        raw = mine if source == ranks.rank else received[receive_at[source] : receive_at[source + 1]]
        tables.append(pa.ipc.open_stream(pa.py_buffer(raw)).read_all())
    return pa.concat_tables(tables)


def permute(numbers: NDArray[np.uint64], size: int, seed: int) -> NDArray[np.uint64]:
    """Where each number below `size` goes: a Feistel network over the next even number of bits, walked until it lands
    below `size`. A bijection for every seed, without a table of all numbers."""
    if size <= 1:
        return numbers.copy()
    half = np.uint64((max((size - 1).bit_length(), 2) + 1) // 2)
    keys = np.random.default_rng(seed).integers(0, 1 << 63, _ROUNDS, dtype=np.uint64)
    out = _feistel(numbers, half, keys)
    while (outside := out >= size).any():
        out[outside] = _feistel(out[outside], half, keys)
    return out


def _feistel(numbers: NDArray[np.uint64], half: np.uint64, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mask = np.uint64((1 << int(half)) - 1)
    left, right = numbers >> half, numbers & mask
    for key in keys:
        mixed = (right ^ key) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xD6E8FEB86659FD93)
        left, right = right, left ^ ((mixed >> np.uint64(32)) & mask)
    return (left << half) | right


def _to_places(table: pa.Table, places: NDArray[np.int64], total: int, ranks: Ranks) -> pa.Table:
    ids = _owners(places, total, ranks.size)
    columns = [flatten(column) for column in [*table.columns, pa.chunked_array([as_arrow(places)])]]
    arrived = exchange(columns, _buckets(ids, ranks.size), ranks).columns
    order = np.argsort(arrived[-1].values.view(np.int64))  # type: ignore[union-attr]
    return pa.table([gather(column, order) for column in arrived[:-1]], schema=table.schema)


def _owners(places: NDArray[np.int64], total: int, num_ranks: int) -> NDArray[np.uint16]:
    owners: NDArray[np.uint16] = np.minimum(places * num_ranks // max(total, 1), num_ranks - 1).astype(np.uint16)
    return owners


def _buckets(ids: NDArray[np.uint16], num_ranks: int) -> Buckets:
    return Buckets(ids, np.append(np.bincount(ids, minlength=num_ranks), 0).astype(np.int64), 1)


def _one_way(step: int, nbytes: int, ranks: Ranks) -> NDArray[np.int64]:
    """Offsets that send the whole buffer to the rank `step` further on, and nothing to others."""
    to = (ranks.rank + step) % ranks.size
    return np.where(np.arange(ranks.size + 1) > to, nbytes, 0).astype(np.int64)


def _from(receive_at: NDArray[np.int64], step: int, ranks: Ranks) -> NDArray[np.int64]:
    source = (ranks.rank - step) % ranks.size
    offsets = np.full(ranks.size + 1, receive_at[source], np.int64)
    offsets[source + 1 :] = receive_at[source + 1]
    return offsets
