"""Which types can be matched in a join, and the type in which they are compared."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from argosy.errors import TypeMismatch

_UNITS = ("s", "ms", "us", "ns")


def common_type(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """The type that holds every value of both, of the same family; None where there is none.

    Families: integers, floats, strings, bytes, timestamps of one time zone. A dictionary counts as its values, and
    a column of nulls goes with everything. Numbers never become strings, nor whole numbers floats.
    """
    if one.equals(other) or pt.is_null(other):
        return one
    if pt.is_null(one):
        return other
    if pt.is_dictionary(one) or pt.is_dictionary(other):
        return common_type(_values(one), _values(other))
    if pt.is_integer(one) and pt.is_integer(other):
        return _integer(one, other)
    if pt.is_floating(one) and pt.is_floating(other):
        return max(one, other, key=lambda kind: kind.bit_width)
    if _is_string(one) and _is_string(other):
        return pa.large_string() if pa.large_string() in (one, other) else pa.string()
    if _is_bytes(one) and _is_bytes(other):
        return pa.large_binary() if pa.large_binary() in (one, other) else pa.binary()
    if pt.is_timestamp(one) and pt.is_timestamp(other) and one.tz == other.tz:
        return max(one, other, key=lambda kind: _UNITS.index(kind.unit))
    return None


def key_type(left_name: str, left: pa.DataType, right_name: str, right: pa.DataType) -> pa.DataType:
    """The type in which two key columns are compared. Says which cast to write where there is none."""
    for name, kind in ((left_name, left), (right_name, right)):
        if pt.is_nested(kind):
            raise TypeMismatch(f"join() cannot use {name!r} as a key, since it is {kind}; take a part of it or cast it")
    common = common_type(left, right)
    if common is None:
        raise TypeMismatch(
            f"join() cannot compare {left_name!r}, which is {left}, with {right_name!r}, which is {right}; "
            f'cast one of them first: with_columns({right_name}=col("{right_name}").cast("{left}"))'
        )
    return common


def _values(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pt.is_dictionary(kind) else kind


def _integer(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    if pt.is_signed_integer(one) == pt.is_signed_integer(other):
        return max(one, other, key=lambda kind: kind.bit_width)
    signed, unsigned = (one, other) if pt.is_signed_integer(one) else (other, one)
    width = max(signed.bit_width, 2 * unsigned.bit_width)
    return {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}.get(width)


def _is_string(kind: pa.DataType) -> bool:
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pt.is_binary(kind) or pt.is_large_binary(kind) or pt.is_binary_view(kind))
