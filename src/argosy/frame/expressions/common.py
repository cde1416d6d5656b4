"""The type that two types have in common: what values are cast to before they are compared or combined."""

from __future__ import annotations

import pyarrow as pa
from pyarrow import types as is_

UNITS = ("s", "ms", "us", "ns")


def plain(kind: pa.DataType) -> pa.DataType:
    """The type to compute with: without dictionaries, run lengths and others of which kernels know little."""
    if is_.is_dictionary(kind) or is_.is_run_end_encoded(kind):
        return plain(kind.value_type)
    if is_.is_string_view(kind):
        return pa.large_string()
    if is_.is_binary_view(kind):
        return pa.large_binary()
    if is_.is_date64(kind):
        return pa.date32()
    if is_.is_decimal32(kind) or is_.is_decimal64(kind):
        return pa.decimal128(kind.precision, kind.scale)
    return pa.float32() if is_.is_float16(kind) else kind


def is_number(kind: pa.DataType) -> bool:
    return bool(is_.is_integer(kind) or is_.is_floating(kind) or is_.is_decimal(kind))


def is_text(kind: pa.DataType) -> bool:
    return bool(is_.is_string(kind) or is_.is_large_string(kind))


def is_comparable(kind: pa.DataType) -> bool:
    """Whether values of the type can be compared and ordered."""
    if is_.is_temporal(kind):
        return not is_.is_interval(kind)
    return bool(is_.is_primitive(kind) or is_number(kind) or is_text(kind) or _is_bytes(kind))


def finer(left: str, right: str) -> str:
    return max(left, right, key=UNITS.index)


def common_type(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The type that holds values of both, or None where there is none.

    A signed and an unsigned integer of 64 bits have int64 in common; large values then fail to convert.
    """
    left, right = plain(left), plain(right)
    if left.equals(right) or is_.is_null(right):
        return left
    if is_.is_null(left):
        return right
    if is_number(left) and is_number(right):
        return _common_number(left, right)
    if is_text(left) and is_text(right):
        return pa.large_string()
    if _is_bytes(left) and _is_bytes(right):
        return pa.large_binary() if is_.is_large_binary(left) or is_.is_large_binary(right) else pa.binary()
    if is_.is_temporal(left) and is_.is_temporal(right):
        return _common_time(left, right)
    if is_.is_list(left) and is_.is_list(right):
        value = common_type(left.value_type, right.value_type)
        return None if value is None else pa.list_(value)
    return None


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(is_.is_binary(kind) or is_.is_large_binary(kind) or is_.is_fixed_size_binary(kind))


def _common_number(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    if is_.is_floating(left) or is_.is_floating(right):
        narrow = all(is_.is_float32(one) or (is_.is_integer(one) and one.bit_width <= 16) for one in (left, right))
        return pa.float32() if narrow else pa.float64()
    if is_.is_decimal(left) or is_.is_decimal(right):
        left, right = as_decimal(left), as_decimal(right)
        scale = max(left.scale, right.scale)
        return decimal(max(left.precision - left.scale, right.precision - right.scale) + scale, scale)
    if is_.is_signed_integer(left) == is_.is_signed_integer(right):
        return left if left.bit_width >= right.bit_width else right
    signed, unsigned = (left, right) if is_.is_signed_integer(left) else (right, left)
    bits = min(64, max(signed.bit_width, 2 * unsigned.bit_width))
    return {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[bits]


def as_decimal(kind: pa.DataType) -> pa.DataType:
    """The decimal type that holds all values of an integer type; a decimal type as it is."""
    if is_.is_decimal(kind):
        return kind
    digits = {8: 3, 16: 5, 32: 10, 64: 19}[kind.bit_width]
    return pa.decimal128(digits + (1 if is_.is_uint64(kind) else 0), 0)


def decimal(precision: int, scale: int) -> pa.DataType:
    return pa.decimal128(precision, scale) if precision <= 38 else pa.decimal256(min(precision, 76), scale)


def _common_time(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    if is_.is_date(left) and is_.is_date(right):
        return pa.date32()
    if is_.is_date(left) and is_.is_timestamp(right):
        return right if right.tz is None else None
    if is_.is_timestamp(left) and is_.is_date(right):
        return _common_time(right, left)
    if is_.is_timestamp(left) and is_.is_timestamp(right):
        if (left.tz is None) != (right.tz is None):
            return None
        return pa.timestamp(finer(left.unit, right.unit), left.tz if left.tz == right.tz else "UTC")
    if is_.is_duration(left) and is_.is_duration(right):
        return pa.duration(finer(left.unit, right.unit))
    if is_.is_time(left) and is_.is_time(right):
        unit = finer(left.unit, right.unit)
        return pa.time64(unit) if unit in ("us", "ns") else pa.time32(unit)
    return None
