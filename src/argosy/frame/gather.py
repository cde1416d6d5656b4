"""Rows of flat columns by their numbers, as Arrow columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from argosy.frame.buffers import empty
from argosy.frame.flat import NO_MASK, Binary, Fixed, Flat, Mask, Other, as_arrow, unflatten
from argosy.frame.kernels import take as kernels

RowNumbers = NDArray[Any]
"""Of 32 or 64 bits; -1 stands for a row that is not there, and gives null."""


def gather(column: Flat, rows: RowNumbers, some_missing: bool = False) -> pa.ChunkedArray:
    """`some_missing`: there may be -1 among the rows."""
    return unflatten(gather_flat(column, rows, some_missing))


def gather_flat(column: Flat, rows: RowNumbers, some_missing: bool = False) -> Flat:
    if isinstance(column, Other):
        numbers = _numbers(rows, some_missing)
        return Other(column.type, column.array.take(numbers))
    valid = _gather_mask(column.valid, rows, some_missing)
    if isinstance(column, Binary):
        offsets = empty(len(rows) + 1, np.int64)
        nbytes = kernels.string_offsets(column.offsets, rows, offsets)
        data = empty(nbytes, np.uint8)
        kernels.take_strings(column.offsets, column.data, rows, data)
        return Binary(column.type, offsets, data, valid)
    out: NDArray[Any] = empty((len(rows), *column.values.shape[1:]), column.values.dtype)
    if column.values.ndim == 2:
        kernels.take_wide(np.ascontiguousarray(column.values), rows, out)
    elif some_missing:
        kernels.take_or_zero(column.values, rows, out)
    else:
        kernels.take(column.values, rows, out)
    return Fixed(column.type, out, valid)


def _numbers(rows: RowNumbers, some_missing: bool) -> pa.Array:
    numbers = as_arrow(rows)
    return pc.if_else(as_arrow(rows >= 0), numbers, pa.scalar(None, numbers.type)) if some_missing else numbers


def _gather_mask(valid: Mask, rows: RowNumbers, some_missing: bool) -> Mask:
    if not valid.size:
        return (rows >= 0).view(np.uint8) if some_missing else NO_MASK
    out = empty(len(rows), np.uint8)
    (kernels.take_or_zero if some_missing else kernels.take)(valid, rows, out)
    return out
