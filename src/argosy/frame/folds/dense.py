"""Values as small numbers: equal values, and only these, have the same one. Also of lists, structs and maps."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from argosy.frame.flat import Fixed, Flat, Other, flatten, unflatten
from argosy.frame.keys import order_codes
from argosy.frame.spread import key_flat

Numbers = NDArray[np.uint64]


def dense(column: Flat) -> Numbers:
    """A number for each value, below the number of rows. NaN equals NaN, -0.0 equals 0.0; null is a value here."""
    if isinstance(column, Other) and pt.is_nested(column.type):
        return _of_parts(pa.concat_arrays(column.array.chunks) if column.array.num_chunks else pa.nulls(0, column.type))
    key = key_flat(column)
    if isinstance(key, Fixed) and key.values.ndim == 1:
        codes = order_codes(key)
    elif isinstance(key, Fixed):
        words = np.ascontiguousarray(key.values).view(np.uint64)
        codes = np.unique(words, axis=0, return_inverse=True)[1].reshape(-1).astype(np.uint64)
    else:
        codes = pc.rank(unflatten(key), tiebreaker="dense").to_numpy().astype(np.uint64)
    return np.unique(codes, return_inverse=True)[1].astype(np.uint64)


def _numbers(array: pa.Array) -> Numbers:
    """From 1 on; 0 stands for null."""
    if len(array) == 0 or pt.is_null(array.type):
        return np.zeros(len(array), np.uint64)
    there = array.is_valid().to_numpy(zero_copy_only=False)
    numbers = dense(flatten(pa.chunked_array([array]))) + np.uint64(1)
    numbers[~there] = 0
    return numbers


def _of_parts(array: pa.Array) -> Numbers:
    """The numbers of a value's parts, one after another, are the bytes that tell it from others."""
    kind = array.type
    if pt.is_struct(kind):
        nothing = np.ones(len(array), np.uint64)
        parts = np.stack([_numbers(array.field(index)) for index in range(kind.num_fields)] or [nothing], axis=1)
        numbers = np.ascontiguousarray(parts, np.uint64).reshape(-1)
        lengths = np.full(len(array), parts.shape[1], np.int64)
    elif pt.is_map(kind):
        return _of_parts(array.cast(pa.list_(pa.struct([kind.key_field, kind.item_field]))))
    else:
        numbers = _numbers(array.flatten())
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy().astype(np.int64)
    offsets = np.zeros(len(array) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets * 8), pa.py_buffer(numbers)]
    encoded = pa.Array.from_buffers(pa.large_binary(), len(array), buffers).dictionary_encode()
    found: Numbers = encoded.indices.to_numpy().astype(np.uint64)
    return found
