"""Arrow columns as flat NumPy arrays, and back. Nothing is copied where the layout is already flat.

Fixed-width values become an array of unsigned integers of their width (rows of bytes when wider than eight), booleans
bytes, strings their offsets and bytes. Whatever else Arrow has (lists, structs, dictionaries, ...) stays what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from argosy.frame.buffers import empty

Mask = NDArray[np.uint8]
NO_MASK: Mask = np.empty(0, np.uint8)
"""All values are there."""


def no_mask() -> Mask:
    return NO_MASK


@dataclass(frozen=True, slots=True)
class Fixed:
    type: pa.DataType
    values: NDArray[Any]
    valid: Mask = field(default_factory=no_mask)

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes + self.valid.nbytes)


@dataclass(frozen=True, slots=True)
class Binary:
    type: pa.DataType
    offsets: NDArray[Any]
    """One more than there are rows; 32 or 64 bits wide; need not begin at 0."""
    data: NDArray[np.uint8]
    valid: Mask = field(default_factory=no_mask)

    @property
    def nbytes(self) -> int:
        used = int(self.offsets[-1]) - int(self.offsets[0])
        return int(self.offsets.nbytes + self.valid.nbytes) + used


@dataclass(frozen=True, slots=True)
class Other:
    type: pa.DataType
    array: pa.ChunkedArray

    @property
    def nbytes(self) -> int:
        return int(self.array.nbytes)


Flat = Fixed | Binary | Other

_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def is_binary(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def width_of(kind: pa.DataType) -> int | None:
    """Bytes of one value where a column of this type is flat, else None."""
    if pa.types.is_boolean(kind):
        return 1
    if pa.types.is_dictionary(kind) or pa.types.is_null(kind) or isinstance(kind, pa.ExtensionType):
        return None
    try:
        return int(kind.bit_width) // 8 or None
    except ValueError:
        return None


def flatten(column: pa.ChunkedArray) -> Flat:
    kind = column.type
    if not is_binary(kind) and width_of(kind) is None:
        return Other(kind, column)
    if is_binary(kind) and column.num_chunks > 1 and not _is_large(kind) and column.nbytes > (1 << 31) - 64:
        column = column.cast(pa.large_string() if pa.types.is_string(kind) else pa.large_binary())
    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.nulls(0, kind)
    valid = _valid(array)
    if is_binary(kind):
        return _flatten_binary(kind, array, valid)
    if pa.types.is_boolean(kind):
        return Fixed(kind, _unpack(array.buffers()[1], array.offset, len(array)), valid)
    width = width_of(kind)
    assert width is not None
    word = _WORDS.get(width)
    buffer = array.buffers()[1]
    if len(array) == 0 or buffer is None:
        return Fixed(kind, np.empty(0, word) if word else np.empty((0, width), np.uint8), valid)
    if word is not None:
        return Fixed(kind, np.frombuffer(buffer, word)[array.offset : array.offset + len(array)], valid)
    raw = np.frombuffer(buffer, np.uint8)[array.offset * width : (array.offset + len(array)) * width]
    return Fixed(kind, raw.reshape(len(array), width), valid)


def unflatten(column: Flat) -> pa.ChunkedArray:
    """The Arrow column over the same memory."""
    if isinstance(column, Other):
        return column.array
    valid = None
    num_nulls = 0
    if column.valid.size:
        num_nulls = int(column.valid.size - np.count_nonzero(column.valid))
        if num_nulls:
            valid = pa.py_buffer(np.packbits(column.valid, bitorder="little"))
    if isinstance(column, Binary):
        return _unflatten_binary(column, valid, num_nulls)
    if pa.types.is_boolean(column.type):
        bits = np.packbits(column.values, bitorder="little")
        array = pa.Array.from_buffers(column.type, len(column.values), [valid, pa.py_buffer(bits)], num_nulls)
    else:
        values = np.ascontiguousarray(column.values)
        array = pa.Array.from_buffers(column.type, len(values), [valid, pa.py_buffer(values)], num_nulls)
    return pa.chunked_array([array], column.type)


def as_arrow(values: NDArray[Any]) -> pa.Array:
    """Plain numbers or booleans over the same memory. `pa.array` would load pandas, where that is installed."""
    is_bool = values.dtype == np.bool_
    raw = np.packbits(values, bitorder="little") if is_bool else np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(raw)])


def concat_flat(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Columns one after another, without copying."""
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks], columns[0].type)


def _is_large(kind: pa.DataType) -> bool:
    return bool(pa.types.is_large_string(kind) or pa.types.is_large_binary(kind))


def _valid(array: pa.Array) -> Mask:
    if array.null_count == 0:
        return NO_MASK
    return _unpack(array.buffers()[0], array.offset, len(array))


def _unpack(bits: pa.Buffer | None, offset: int, length: int) -> Mask:
    if length == 0 or bits is None:
        return np.zeros(length, np.uint8)
    first = offset // 8
    raw = np.frombuffer(bits, np.uint8)[first : (offset + length + 7) // 8]
    skip = offset - first * 8
    return np.unpackbits(raw, count=skip + length, bitorder="little")[skip:]


def _flatten_binary(kind: pa.DataType, array: pa.Array, valid: Mask) -> Binary:
    word = np.int64 if _is_large(kind) or _is_large(array.type) else np.int32
    _, offsets, data = array.buffers()
    if offsets is None or len(array) == 0:
        return Binary(kind, np.zeros(1, word), np.empty(0, np.uint8), valid)
    where = np.frombuffer(offsets, word)[array.offset : array.offset + len(array) + 1]
    raw = np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8)
    if valid.size:
        null_bytes = np.diff(where)[valid == 0]
        if null_bytes.any():  # bytes under a null: legal in Arrow, but not for us
            return _flatten_binary(kind, pc.fill_null(array, b"" if pa.types.is_binary(kind) else ""), valid)
    return Binary(kind, where, raw, valid)


def _unflatten_binary(column: Binary, valid: pa.Buffer | None, num_nulls: int) -> pa.ChunkedArray:
    offsets = column.offsets
    num_rows = len(offsets) - 1
    if _is_large(column.type):
        wide = np.ascontiguousarray(offsets.astype(np.int64, copy=False))
        buffers = [valid, pa.py_buffer(wide), pa.py_buffer(column.data)]
        return pa.chunked_array([pa.Array.from_buffers(column.type, num_rows, buffers, num_nulls)], column.type)
    limit = (1 << 31) - 1
    if int(offsets[-1]) - int(offsets[0]) <= limit:
        cuts = [0, num_rows]
    else:  # several chunks, none of them with 2 GiB or more
        cuts = [0]
        while cuts[-1] < num_rows:
            stop = int(np.searchsorted(offsets, offsets[cuts[-1]] + limit, side="right")) - 1
            cuts.append(max(min(stop, num_rows), cuts[-1] + 1))
    chunks = []
    for start, stop in pairwise(cuts):
        first = int(offsets[start])
        mine = offsets[start : stop + 1]
        data = column.data
        if mine.dtype != np.int32 or (first and len(cuts) > 2):
            data = data[first : int(offsets[stop])]
            narrow = empty(len(mine), np.int32)
            np.subtract(mine, first, out=narrow, casting="same_kind")
            mine = narrow
        mask = None if valid is None else pa.py_buffer(np.packbits(column.valid[start:stop], bitorder="little"))
        buffers = [mask, pa.py_buffer(np.ascontiguousarray(mine)), pa.py_buffer(data)]
        chunks.append(pa.Array.from_buffers(column.type, stop - start, buffers))
    return pa.chunked_array(chunks, column.type)
