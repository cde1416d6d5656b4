"""Rows to their ranks. Each column is scattered into bucket order, straight to where it is sent from or stays, and is
on its way while the next one is scattered.

Costs one small all-to-all of counts, then one exchange for each buffer of each column. Peak memory is the rows that are
sent, once more, and the rows that arrive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from argosy.comm.ranks import Exchange, Ranks
from argosy.frame.buffers import empty
from argosy.frame.flat import NO_MASK, Binary, Fixed, Flat, Mask, Other, as_arrow
from argosy.frame.kernels import partition

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Buckets:
    """Which bucket each row goes to. Rank r owns buckets `r * per_rank` to `(r + 1) * per_rank`; rows with the number
    past the last bucket stay on their rank, outside all of them."""

    ids: NDArray[np.uint16]
    num_rows: Counts
    """Of each bucket, and of the rows that stay."""
    per_rank: int


@dataclass(frozen=True, slots=True)
class Arrived:
    """Rows in the order of their source and then of their bucket; those that stayed come last."""

    columns: list[Flat]
    starts: Counts
    """Of the rows of each source and bucket."""
    counts: Counts
    num_rows: int
    """In buckets."""
    num_loose: int
    """Rows that stayed outside the buckets."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where rows, or bytes, of each rank and bucket lie in one buffer: what arrives, what is loose, what is sent."""

    receive_at: Counts
    send_at: Counts
    bucket_at: Counts
    """Where each bucket's own rows begin, with the loose ones at the end."""
    num_arrived: int
    size: int


def to_first(columns: Sequence[Flat], num_rows: int, ranks: Ranks) -> list[Flat]:
    """All rows on rank 0."""
    counts = np.zeros(ranks.size + 1, np.int64)
    counts[0] = num_rows
    return exchange(columns, Buckets(np.zeros(num_rows, np.uint16), counts, 1), ranks).columns


def exchange(columns: Sequence[Flat], buckets: Buckets, ranks: Ranks) -> Arrived:
    size, per_rank = ranks.size, buckets.per_rank
    sent = np.ascontiguousarray(buckets.num_rows[:-1].reshape(size, per_rank))
    num_loose = int(buckets.num_rows[-1])
    strings = [column for column in columns if isinstance(column, Binary)]
    lengths, string_bytes = [], []
    for string in strings:
        nbytes = np.zeros(len(buckets.num_rows), np.int64)
        length = empty(len(buckets.ids), np.uint32)
        partition.string_lengths(string.offsets, buckets.ids, nbytes, length)
        lengths.append(length)
        string_bytes.append(nbytes)
    masked = [int(not isinstance(column, Other) and column.valid.size > 0) for column in columns]
    header = np.empty((size, per_rank + len(strings) + len(columns)), np.int64)
    header[:, :per_rank] = sent
    for index, nbytes in enumerate(string_bytes):
        header[:, per_rank + index] = nbytes[:-1].reshape(size, per_rank).sum(axis=1)
    header[:, per_rank + len(strings) :] = masked
    received = ranks.alltoall_rows(header)
    counts = np.ascontiguousarray(received[:, :per_rank])
    layout = _lay_out(sent, counts.sum(axis=1), num_loose, ranks.rank)
    at = empty(len(buckets.ids), np.int32 if layout.size < 1 << 31 else np.int64)
    partition.positions(buckets.ids, layout.bucket_at.copy(), at)
    starts = layout.receive_at[:-1, None] + np.cumsum(counts, axis=1) - counts
    under_way: list[Exchange] = []
    pending: list[Any] = []
    which_string = 0
    for index, column in enumerate(columns):
        if isinstance(column, Other):
            pending.append(column)
            continue
        has_mask = received[:, per_rank + len(strings) + index]
        mask = _start_mask(column.valid, at, layout, has_mask, ranks, under_way)
        if isinstance(column, Fixed):
            values = _start_fixed(column.values, at, layout, ranks, under_way)
            pending.append((values, mask))
        else:
            length = _start_fixed(lengths[which_string], at, layout, ranks, under_way)
            nbytes = string_bytes[which_string]
            arriving = received[:, per_rank + which_string]
            sent_bytes = nbytes[:-1].reshape(size, per_rank)
            bytes_at = _lay_out(sent_bytes, arriving, int(nbytes[-1]), ranks.rank)
            data = empty(bytes_at.size, np.uint8)
            partition.scatter_strings(column.offsets, column.data, buckets.ids, bytes_at.bucket_at.copy(), data)
            under_way.append(ranks.start_exchange(data, bytes_at.send_at, data, bytes_at.receive_at))
            pending.append((length, mask, data[: bytes_at.num_arrived + int(nbytes[-1])]))
            which_string += 1
    for one in under_way:
        one.wait()
    num_here = layout.num_arrived + num_loose
    others = _exchange_others([column for column in columns if isinstance(column, Other)], at, layout, num_loose, ranks)
    arrived = [_finish(column, one, num_here, others) for column, one in zip(columns, pending, strict=True)]
    return Arrived(arrived, np.ascontiguousarray(starts), counts, layout.num_arrived, num_loose)


def _lay_out(sent: Counts, arriving: Counts, num_loose: int, rank: int) -> _Layout:
    size = len(sent)
    receive_at = np.zeros(size + 1, np.int64)
    np.cumsum(arriving, out=receive_at[1:])
    num_arrived = int(receive_at[-1])
    leaving = sent.sum(axis=1)
    leaving[rank] = 0
    send_at = np.zeros(size + 1, np.int64)
    np.cumsum(leaving, out=send_at[1:])
    send_at += num_arrived + num_loose
    within = np.cumsum(sent, axis=1) - sent
    first = send_at[:-1].copy()
    first[rank] = receive_at[rank]
    bucket_at = np.append((within + first[:, None]).reshape(-1), num_arrived)
    return _Layout(receive_at, send_at, bucket_at, num_arrived, int(send_at[-1]))


def _start_fixed(
    values: NDArray[Any], at: NDArray[Any], layout: _Layout, ranks: Ranks, under_way: list[Exchange]
) -> NDArray[Any]:
    out: NDArray[Any] = empty((layout.size, *values.shape[1:]), values.dtype)
    if values.ndim == 1:
        partition.scatter(values, at, out)
    else:
        partition.scatter_wide(np.ascontiguousarray(values), at, out)
    width = values.itemsize * (values.shape[1] if values.ndim == 2 else 1)
    raw = out.reshape(-1).view(np.uint8)
    under_way.append(ranks.start_exchange(raw, layout.send_at * width, raw, layout.receive_at * width))
    return out


def _start_mask(
    valid: Mask, at: NDArray[Any], layout: _Layout, has_mask: Counts, ranks: Ranks, under_way: list[Exchange]
) -> Mask:
    """A rank sends a mask only when it has one; where any has, the rows of the others count as there."""
    mine = valid.size > 0
    if not mine and not has_mask.any():
        if ranks.size > 1:
            nothing = np.zeros(ranks.size + 1, np.int64)
            under_way.append(ranks.start_exchange(NO_MASK, nothing, NO_MASK, nothing))
        return NO_MASK
    out = np.ones(layout.size, np.uint8)
    if mine:
        partition.scatter(valid, at, out)
    leaving = layout.send_at if mine else np.full_like(layout.send_at, layout.send_at[0])
    arriving = np.append(layout.receive_at[:-1], layout.receive_at[-1])
    under_way.append(_start_partial(out, leaving, arriving, has_mask, ranks))
    return out


def _start_partial(out: Mask, leaving: Counts, arriving: Counts, has_mask: Counts, ranks: Ranks) -> Exchange:
    """Like `start_exchange`, but nothing arrives from ranks without a mask."""
    if has_mask.all():
        return ranks.start_exchange(out, leaving, out, arriving)
    expected = np.diff(arriving) * (has_mask != 0)
    packed_at = np.zeros_like(arriving)
    np.cumsum(expected, out=packed_at[1:])
    packed = np.empty(int(packed_at[-1]), np.uint8)
    going = ranks.start_exchange(out, leaving, packed, packed_at)
    return _Unpack(going, packed, packed_at, out, arriving, has_mask, ranks.rank)


@dataclass(frozen=True, slots=True)
class _Unpack:
    going: Exchange
    packed: Mask
    packed_at: Counts
    out: Mask
    arriving: Counts
    has_mask: Counts
    rank: int

    def wait(self) -> None:
        self.going.wait()
        for source, has in enumerate(self.has_mask):
            if has and source != self.rank:
                part = self.packed[self.packed_at[source] : self.packed_at[source + 1]]
                self.out[self.arriving[source] : self.arriving[source + 1]] = part


def _finish(column: Flat, pending: Any, num_rows: int, others: dict[int, pa.ChunkedArray]) -> Flat:
    if isinstance(column, Other):
        return Other(column.type, others[id(column)])
    mask: Mask = pending[1][:num_rows] if pending[1].size else NO_MASK
    if isinstance(column, Fixed):
        return Fixed(column.type, pending[0][:num_rows], mask)
    offsets = empty(num_rows + 1, np.int64)
    partition.offsets_of(pending[0][:num_rows], offsets)
    return Binary(column.type, offsets, pending[2], mask)


def _exchange_others(
    columns: Sequence[Other], at: NDArray[Any], layout: _Layout, num_loose: int, ranks: Ranks
) -> dict[int, pa.ChunkedArray]:
    """Columns that are not flat travel as Arrow IPC."""
    if not columns:
        return {}
    rows_at = np.zeros(layout.size, at.dtype)
    rows_at[at] = np.arange(len(at), dtype=at.dtype)
    names = [str(index) for index in range(len(columns))]
    table = pa.table([column.array for column in columns], names=names)
    parts: list[pa.Table | bytes] = []
    for peer in range(ranks.size):
        if peer == ranks.rank:
            parts.append(b"")
        else:
            parts.append(_encode(table.take(as_arrow(rows_at[layout.send_at[peer] : layout.send_at[peer + 1]]))))
    sizes = np.array([[len(part)] for part in parts], np.int64)
    arriving = ranks.alltoall_rows(sizes)
    send_at, receive_at = np.zeros(ranks.size + 1, np.int64), np.zeros(ranks.size + 1, np.int64)
    np.cumsum(sizes[:, 0], out=send_at[1:])
    np.cumsum(arriving[:, 0], out=receive_at[1:])
    sent = np.frombuffer(b"".join(parts), np.uint8) if send_at[-1] else NO_MASK
    received = np.empty(int(receive_at[-1]), np.uint8)
    ranks.start_exchange(sent, send_at, received, receive_at).wait()
    tables = []
    own = slice(int(layout.receive_at[ranks.rank]), int(layout.receive_at[ranks.rank + 1]))
    for peer in range(ranks.size):
        if peer == ranks.rank:
            tables.append(table.take(as_arrow(rows_at[own])))
        else:
            raw = pa.py_buffer(received[receive_at[peer] : receive_at[peer + 1]])
            tables.append(pa.ipc.open_stream(raw).read_all())
    tables.append(table.take(as_arrow(rows_at[layout.num_arrived : layout.num_arrived + num_loose])))
    together = pa.concat_tables([one.cast(table.schema) for one in tables]).unify_dictionaries()
    return {id(column): together.column(index) for index, column in enumerate(columns)}


def _encode(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]
