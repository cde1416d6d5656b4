"""Columns of a table, over the memory in which they lie: never concatenated, never converted as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from argosy.errors import BadData, RanksDisagree
from argosy.train.data.columns import Pieces, pieces

_BLOCK = 1 << 16
"""Rows whose lengths are looked at in one go."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What one rank sees in one of its columns."""

    kind: str
    rows: int
    nulls: int
    lengths: tuple[int, ...] | None
    """Of lists, from the outside in; None where there is no row to tell."""
    odd: tuple[int, int] | None = None
    """The first row whose list has another length, and that length."""


def look_at(column: pa.ChunkedArray) -> Look:
    """Reads validity bits and the offsets of lists, not the values."""
    nulls = 0
    lengths: tuple[int, ...] | None = None
    odd: tuple[int, int] | None = None
    begin = 0
    for chunk in column.chunks:
        missing = _nulls(chunk)
        nulls += missing
        if len(chunk) and not missing and odd is None:
            own, odd = _lengths(chunk, lengths, begin)
            lengths = own if lengths is None else lengths
        begin += len(chunk)
    return Look(kind=str(column.type), rows=len(column), nulls=nulls, lengths=lengths, odd=odd)


def check_looks(name: str, looks: list[Look]) -> tuple[int, ...]:
    """The shape of a row on all ranks, from what each of them saw."""
    nulls = sum(look.nulls for look in looks)
    if nulls:
        rows = sum(look.rows for look in looks)
        raise BadData(
            f"column {name!r} has nulls in {nulls} places, in {rows} rows on all ranks; leave those rows out: "
            f'filter(col("{name}").is_not_null())'
        )
    filled = [(rank, look) for rank, look in enumerate(looks) if look.rows]
    if not filled:
        return ()
    first_rank, first = filled[0]
    for rank, look in filled:
        where = f" of rank {rank}" if len(looks) > 1 else ""
        if look.kind != first.kind:
            raise RanksDisagree(f"column {name!r} is {first.kind} on rank {first_rank}, but {look.kind} on rank {rank}")
        if look.odd is not None and look.lengths is not None:
            row, length = look.odd
            raise BadData(
                f"column {name!r} has lists of unequal length: {look.lengths[-1]} values in the first row{where}, "
                f"{length} in row {row}; pad or cut them to one length"
            )
        if look.lengths != first.lengths:
            raise BadData(
                f"column {name!r} has rows of {prod(first.lengths or ())} values on rank {first_rank}, "
                f"but of {prod(look.lengths or ())} on rank {rank}; pad or cut them to one length"
            )
    return first.lengths or ()


def column_of(name: str, column: pa.ChunkedArray, shape: tuple[int, ...]) -> Pieces:
    """Over the same memory. The column has been looked at and checked."""
    chunks = [chunk for chunk in column.chunks if len(chunk)]
    kind = column.type
    while _is_list(kind):
        kind = kind.value_type
    if not (pt.is_integer(kind) or pt.is_floating(kind) or (pt.is_boolean(kind) and kind == column.type)):
        raise BadData(
            f"column {name!r} is {column.type}, which a model cannot learn from; "
            "cast it to a number, or leave it out: features=[...]"
        )
    flat = [_values(chunk) for chunk in chunks]
    lengths = [len(chunk) for chunk in chunks]
    if pt.is_boolean(kind):
        at = [values.buffers()[1].address for values in flat]
        offsets = [values.offset for values in flat]
        return pieces(at, lengths, np.dtype(np.uint8), shape, column, bit_offsets=offsets)
    dtype = np.dtype(kind.to_pandas_dtype())
    at = [values.buffers()[1].address + values.offset * dtype.itemsize if len(values) else 0 for values in flat]
    return pieces(at, lengths, dtype, shape, column)


def _is_list(kind: Any) -> bool:
    return bool(pt.is_fixed_size_list(kind) or pt.is_list(kind) or pt.is_large_list(kind))


def _values(chunk: pa.Array) -> pa.Array:
    while _is_list(chunk.type):
        chunk = chunk.flatten()
    return chunk


def _nulls(chunk: pa.Array) -> int:
    """Rows that are null, or else values in them that are."""
    while chunk.null_count == 0 and _is_list(chunk.type):
        chunk = chunk.flatten()
    return int(chunk.null_count)


def _lengths(
    chunk: pa.Array, expected: tuple[int, ...] | None, begin: int
) -> tuple[tuple[int, ...], tuple[int, int] | None]:
    """Lengths of the lists in this chunk, and the first of its rows that has others. `begin` is its first row."""
    lengths: list[int] = []
    lists_per_row = 1
    while _is_list(chunk.type):
        if pt.is_fixed_size_list(chunk.type):
            size = chunk.type.list_size
        else:
            offsets = chunk.offsets.to_numpy()
            size = int(offsets[1] - offsets[0]) if len(offsets) > 1 else 0
            if expected is not None:
                size = expected[len(lengths)]
            for at in range(0, len(chunk), _BLOCK):
                sizes = np.diff(offsets[at : at + _BLOCK + 1])
                if (sizes != size).any():
                    other = int(np.argmax(sizes != size))
                    row = begin + (at + other) // lists_per_row
                    return (*lengths, size), (row, int(sizes[other]))
        lengths.append(size)
        lists_per_row *= max(size, 1)
        chunk = chunk.flatten()
    return tuple(lengths), None
