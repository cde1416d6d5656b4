"""Keys as numbers: a hash that says where a row goes, and a code that says which rows are equal or come first.

Integers, dates, times, booleans and floats become 64-bit codes. Several columns are packed into one code where their
values fit. What does not fit, and strings, becomes a hash with the bytes to compare behind it. As keys, NaN equals NaN
and -0.0 equals 0.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from argosy.errors import TypeMismatch
from argosy.frame.buffers import empty
from argosy.frame.flat import NO_MASK, Binary, Fixed, Flat, Mask, flatten, is_binary, no_mask, width_of
from argosy.frame.kernels import hashing, rows

Codes = NDArray[np.uint64]
_SIGN = np.uint64(1 << 63)
_NULL_HASH = np.uint64(0x5BD1E995_9E3779B9)
_NO_OFFSETS = np.zeros(1, np.int64)


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a table's rows. `exact`: equal codes are equal keys; otherwise the bytes decide."""

    codes: Codes
    exact: bool = True
    offsets: NDArray[np.int64] = field(default_factory=lambda: _NO_OFFSETS)
    data: NDArray[np.uint8] = field(default_factory=no_mask)


def key_type(kind: pa.DataType) -> pa.DataType:
    """The type that keys of this type are compared in. Raises `TypeMismatch` for what cannot be a key."""
    if pa.types.is_dictionary(kind):
        return key_type(kind.value_type)
    if is_binary(kind):
        return pa.large_string() if pa.types.is_string(kind) or pa.types.is_large_string(kind) else pa.large_binary()
    if pa.types.is_fixed_size_binary(kind):
        return pa.large_binary()
    if pa.types.is_signed_integer(kind):
        return pa.int64()
    if pa.types.is_unsigned_integer(kind):
        return pa.int64() if kind.bit_width < 64 else kind
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_null(kind):
        return pa.int64()
    if pa.types.is_decimal(kind) or (width_of(kind) is not None and not pa.types.is_nested(kind)):
        return kind
    raise TypeMismatch(f"a column of type {kind} cannot be a key; use its parts, or cast it")


def key_column(column: pa.ChunkedArray) -> Flat:
    """The column as keys are compared."""
    wanted = key_type(column.type)
    if is_binary(column.type):
        return flatten(column)
    if wanted != column.type:
        column = column.cast(wanted)
    return flatten(column)


def all_valid(columns: Sequence[Flat]) -> Mask:
    """Where no key column is null; empty when that is everywhere."""
    masks = [column.valid for column in columns if isinstance(column, Fixed | Binary) and column.valid.size]
    if not masks:
        return NO_MASK
    together = masks[0]
    for mask in masks[1:]:
        together = together & mask
    return together


def hashes(columns: Sequence[Flat]) -> Codes:
    """What decides a row's rank and bucket. It depends on the values alone, not on the other rows."""
    out: Codes | None = None
    for column in columns:
        codes = _hash_codes(column)
        mask = _mask(column)
        if mask.size:
            codes = np.where(mask != 0, codes, _NULL_HASH)
        if len(columns) == 1:
            return codes
        if out is None:
            out = empty(len(codes), np.uint64)
            hashing.combine_hashes(out, codes, True)
        else:
            hashing.combine_hashes(out, codes, False)
    assert out is not None
    return out


def rehash(codes: Codes) -> Codes:
    """Hashes that are independent of these."""
    out = empty(len(codes), np.uint64)
    hashing.combine_hashes(out, codes, True)
    return out


def equal_keys(sides: Sequence[Sequence[Flat]], null_is_a_key: bool) -> list[Keys]:
    """Keys that tell whether rows are equal, within and across these sides (lists of key columns, alike).

    With `null_is_a_key` null equals null; else rows with a null key get some code, and are not to be looked at.
    """
    masked = null_is_a_key and any(_mask(column).size for columns in sides for column in columns)
    if len(sides[0]) == 1 and not masked:
        first = sides[0][0]
        if isinstance(first, Binary):
            return [_string_keys(columns[0]) for columns in sides]
        if isinstance(first, Fixed) and first.values.ndim == 1:
            return [Keys(_number_codes(columns[0])) for columns in sides]
    packed = _pack(sides)
    if packed is not None:
        return packed
    return [row_keys(columns) for columns in sides]


def row_keys(columns: Sequence[Flat], descending: Sequence[bool] | None = None, nulls_first: bool = False) -> Keys:
    """All columns as one string for each row, whose bytes compare as the rows do."""
    num_rows = _num_rows(columns[0])
    flips = [np.uint8(255 if down else 0) for down in descending or [False] * len(columns)]
    null = np.uint8(0 if nulls_first else 255)
    lengths = np.zeros(num_rows, np.int64)
    for column in columns:
        if isinstance(column, Binary):
            rows.add_string_lengths(wide_offsets(column), column.data, column.valid, lengths)
        elif isinstance(column, Fixed):
            width = 8 if column.values.ndim == 1 else column.values.shape[1]
            rows.add_number_lengths(column.valid, width, lengths)
    offsets = np.zeros(num_rows + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    data = empty(int(offsets[-1]), np.uint8)
    at = offsets[:-1].copy()
    for column, flip in zip(columns, flips, strict=True):
        if isinstance(column, Binary):
            rows.write_strings(wide_offsets(column), column.data, column.valid, null, flip, at, data)
        elif isinstance(column, Fixed) and column.values.ndim == 1:
            rows.write_numbers(order_codes(column), column.valid, null, flip, at, data)
        elif isinstance(column, Fixed):
            rows.write_wide(np.ascontiguousarray(column.values), column.valid, null, flip, at, data)
    codes = empty(num_rows, np.uint64)
    hashing.hash_binary(offsets, data, codes)
    return Keys(codes, False, offsets, data)


def order_codes(column: Fixed) -> Codes:
    """Numbers in the order of the column's values, as unsigned integers. NaN is the largest."""
    codes = _number_codes(column)
    if pa.types.is_floating(column.type):
        return np.where(codes >> np.uint64(63) != 0, ~codes, codes | _SIGN)
    if pa.types.is_boolean(column.type) or pa.types.is_unsigned_integer(column.type):
        return codes
    return codes ^ _SIGN


def wide_offsets(column: Binary) -> NDArray[np.int64]:
    if column.offsets.dtype == np.int64:
        return column.offsets
    wide: NDArray[np.int64] = empty(len(column.offsets), np.int64)
    wide[:] = column.offsets
    return wide


def _num_rows(column: Flat) -> int:
    return len(column.offsets) - 1 if isinstance(column, Binary) else len(_fixed(column).values)


def _fixed(column: Flat) -> Fixed:
    if not isinstance(column, Fixed):
        raise TypeMismatch(f"a column of type {column.type} cannot be a key; use its parts, or cast it")
    return column


def _mask(column: Flat) -> Mask:
    return NO_MASK if not isinstance(column, Fixed | Binary) else column.valid


def _number_codes(column: Flat) -> Codes:
    """One code for each value; equal values have equal codes."""
    values = _fixed(column).values
    if pa.types.is_floating(column.type):
        numbers = values.view(np.float64) + 0.0  # -0.0 becomes 0.0
        numbers[np.isnan(numbers)] = np.nan
        return numbers.view(np.uint64)
    if values.dtype == np.uint64:
        return values
    if pa.types.is_boolean(column.type) or pa.types.is_unsigned_integer(column.type):
        return values.astype(np.uint64)
    return values.view(f"int{values.itemsize * 8}").astype(np.int64).view(np.uint64)


def _hash_codes(column: Flat) -> Codes:
    if isinstance(column, Binary):
        codes = empty(len(column.offsets) - 1, np.uint64)
        hashing.hash_binary(column.offsets, column.data, codes)
        return codes
    fixed = _fixed(column)
    if fixed.values.ndim == 1:
        return _number_codes(fixed)
    words = np.ascontiguousarray(fixed.values).view(np.uint64)
    codes = empty(len(words), np.uint64)
    for index in range(words.shape[1]):
        hashing.combine_hashes(codes, np.ascontiguousarray(words[:, index]), index == 0)
    return codes


def _string_keys(column: Flat) -> Keys:
    assert isinstance(column, Binary)
    return Keys(_hash_codes(column), False, wide_offsets(column), column.data)


@dataclass(frozen=True, slots=True)
class Field:
    """Where a column's values lie in a packed code: `value - low + first`, `bits` wide; null is 0 or the last."""

    low: int
    span: int
    """From the smallest value to the largest; -1 where there is none."""

    @property
    def bits(self) -> int:
        return (self.span + 2).bit_length()


def fields_of(sides: Sequence[Sequence[Flat]]) -> list[Field] | None:
    """How the columns pack into 64 bits, by the smallest and largest value of each; None where they do not."""
    fields = []
    for columns in zip(*sides, strict=True):
        low, high = None, None
        for column in columns:
            if not isinstance(column, Fixed) or column.values.ndim != 1:
                return None
            codes = order_codes(column)
            if column.valid.size:
                codes = codes[column.valid != 0]
            if codes.size:
                low = int(codes.min()) if low is None else min(low, int(codes.min()))
                high = int(codes.max()) if high is None else max(high, int(codes.max()))
        fields.append(Field(0, -1) if low is None or high is None else Field(low, high - low))
    return fields if sum(one.bits for one in fields) <= 64 else None


def pack(
    columns: Sequence[Flat],
    fields: Sequence[Field],
    descending: Sequence[bool] | None = None,
    nulls_first: bool = False,
) -> Codes:
    """One code for each row, in the order of the rows."""
    out = np.zeros(_num_rows(columns[0]), np.uint64)
    for index, (column, part_of) in enumerate(zip(columns, fields, strict=True)):
        fixed = _fixed(column)
        part = order_codes(fixed) - np.uint64(part_of.low)
        if descending is not None and descending[index]:
            part = np.uint64(part_of.span) - part
        part += np.uint64(1)
        if fixed.valid.size:
            part = np.where(fixed.valid != 0, part, np.uint64(0 if nulls_first else part_of.span + 2))
        out = part if index == 0 else (out << np.uint64(part_of.bits)) | part
    return out


def _pack(sides: Sequence[Sequence[Flat]]) -> list[Keys] | None:
    fields = fields_of(sides)
    return None if fields is None else [Keys(pack(columns, fields)) for columns in sides]
