"""One type for a column of text whose first blocks look different in different files."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import pyarrow as pa


def unify(types: Iterable[pa.DataType]) -> pa.DataType:
    """The narrowest type that all of these can be read as; string at last, and where no file has a value."""
    return _settled(reduce(_both, types, pa.null()))


def _both(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    if one.equals(other) or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if {one, other} == {pa.int64(), pa.float64()}:
        return pa.float64()
    if all(pa.types.is_date(kind) or pa.types.is_timestamp(kind) for kind in (one, other)):
        return _both_times(one, other)
    return pa.string()


def _both_times(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    if pa.types.is_date(one):
        one, other = other, one
    if pa.types.is_date(other):
        return one if one.tz is None else pa.string()
    if one.tz != other.tz:
        return pa.string()
    return pa.timestamp("ns" if "ns" in (one.unit, other.unit) else "us", one.tz)


def _settled(kind: pa.DataType) -> pa.DataType:
    """A type that later values fit in too: seconds may get fractions, bytes that are no UTF-8 are an error."""
    if pa.types.is_null(kind) or pa.types.is_binary(kind):
        return pa.string()
    if pa.types.is_timestamp(kind) and kind.unit == "s":
        return pa.timestamp("us", kind.tz)
    return kind
