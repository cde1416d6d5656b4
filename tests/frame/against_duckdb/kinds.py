"""Types of columns, values that meet often, and what carries them in DuckDB.

DuckDB is asked about values, not about types that it does not have: times, dates and durations travel as the integers
that Arrow keeps them in, so that their order and their equality are those of Arrow; half floats as floats; dictionaries
as their values; decimals of any width as 38 digits.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from argosy.frame.layout import laid_out, plain_layout

_PREFIX = "a prefix that many values share, "
_TEXTS = ["", "a", "a\0", "ab", "b", "é", "日本", _PREFIX, _PREFIX + "1", _PREFIX + "10", _PREFIX + "2", "zz"]
_BYTES = [text.encode() for text in _TEXTS] + [b"\0", b"\xff", b"\xff\xff"]
_FLOATS = [float("nan"), -0.0, 0.0, 0.25, 1.0, -1.0, 3.0, -2.5, 100.0, float("inf"), float("-inf")]
_DAY = dt.datetime(2024, 2, 29, 23, 59, 59)
_TIMES = [
    _DAY,
    _DAY + dt.timedelta(seconds=1),
    dt.datetime(1969, 12, 31),
    dt.datetime(1970, 1, 1),
    dt.datetime(2, 1, 1),
]
_LATER = [one for one in _TIMES if one.year > 1900]
_SPANS = [dt.timedelta(0), dt.timedelta(seconds=-1), dt.timedelta(days=9), dt.timedelta(days=400, seconds=7)]


def _whole(bits: int, signed: bool) -> list[int]:
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return [low, low + 1, high, high - 1, 0, 1, 2, 3, 7]


INTEGERS: dict[pa.DataType, Sequence[Any]] = {
    kind: _whole(kind.bit_width, pt.is_signed_integer(kind))
    for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
}
FLOATS: dict[pa.DataType, Sequence[Any]] = dict.fromkeys((pa.float64(), pa.float32(), pa.float16()), _FLOATS)
KEYS: dict[pa.DataType, Sequence[Any]] = {
    **INTEGERS,
    **FLOATS,
    pa.bool_(): [True, False],
    pa.string(): _TEXTS,
    pa.large_string(): _TEXTS,
    pa.string_view(): _TEXTS,
    pa.binary(): _BYTES,
    pa.large_binary(): _BYTES,
    pa.binary_view(): _BYTES,
    pa.binary(3): [b"abc", b"abd", b"\0\0\0", b"\xff\0\0", b"\0\0\xff"],
    pa.binary(8): [b"abcdefgh", b"abcdefgi", b"\0" * 8, b"\xff" + b"\0" * 7, b"\0" * 7 + b"\xff"],
    pa.date32(): [one.date() for one in _TIMES],
    pa.date64(): [one.date() for one in _TIMES],
    pa.timestamp("s"): _TIMES,
    pa.timestamp("ms", "Europe/Berlin"): [one.replace(tzinfo=dt.UTC) for one in _TIMES],
    pa.timestamp("us", "UTC"): [one.replace(tzinfo=dt.UTC) for one in _TIMES],
    pa.timestamp("ns"): _LATER,
    pa.timestamp("us"): _TIMES,
    pa.time32("s"): [dt.time(0), dt.time(23, 59, 59), dt.time(1)],
    pa.time32("ms"): [dt.time(0), dt.time(23, 59, 59, 999000), dt.time(1)],
    pa.time64("us"): [dt.time(0), dt.time(1, 2, 3, 4), dt.time(1)],
    pa.time64("ns"): [dt.time(0), dt.time(1, 2, 3, 4), dt.time(1)],
    pa.duration("s"): _SPANS,
    pa.duration("ms"): _SPANS,
    pa.duration("us"): _SPANS,
    pa.duration("ns"): _SPANS,
    pa.decimal32(7, 2): [Decimal("0.00"), Decimal("-1.50"), Decimal("99999.99"), Decimal("0.01")],
    pa.decimal64(15, 3): [Decimal("0.000"), Decimal("-0.001"), Decimal("999999999999.999"), Decimal("1.000")],
    pa.decimal128(20, 2): [Decimal("0.00"), Decimal("-0.01"), Decimal("123456789012345678.90"), Decimal("1.00")],
    pa.decimal256(50, 1): [Decimal("0.0"), Decimal("-0.1"), Decimal("1" * 30 + ".0"), Decimal("2.0")],
    pa.dictionary(pa.int32(), pa.string()): _TEXTS,
    pa.dictionary(pa.int32(), pa.int64()): [0, 1, -(2**63)],
    pa.dictionary(pa.int8(), pa.int64()): [0, 1, -(2**63)],
    pa.dictionary(pa.uint8(), pa.string_view()): _TEXTS,
    pa.dictionary(pa.int32(), pa.large_string()): _TEXTS,
    pa.dictionary(pa.int16(), pa.timestamp("ms")): _TIMES,
    pa.dictionary(pa.int32(), pa.timestamp("ms")): _TIMES,
    pa.dictionary(pa.int32(), pa.decimal128(20, 2)): [Decimal("0.00"), Decimal("-0.01"), Decimal("1.00")],
    pa.null(): [None],
}
"""Can be grouped, matched and sorted by."""
PAYLOADS: dict[pa.DataType, Sequence[Any]] = {
    pa.list_(pa.int64()): [[], [1], [1, None, 2], [3] * 5],
    pa.large_list(pa.string()): [[], ["a"], ["", None, "é"]],
    pa.list_(pa.string_view()): [[], ["a"], ["", None, _PREFIX]],
    pa.list_(pa.large_string()): [[], ["a"], ["", None, _PREFIX]],
    pa.list_(pa.list_(pa.float64())): [[], [[1.5], None, []], [[None]]],
    pa.list_(pa.int16(), 2): [[1, 2], [None, 3], [-1, -1]],
    pa.map_(pa.string(), pa.int64()): [[], [("a", 1)], [("a", 1), ("b", None)]],
    pa.list_(pa.struct([("x", pa.int8())])): [[], [{"x": 1}, None], [{"x": None}]],
    pa.struct([("x", pa.int32()), ("y", pa.string())]): [{"x": 1, "y": "a"}, {"x": None, "y": ""}, {"x": 2, "y": None}],
}
"""Only travel along."""
ALL = {**KEYS, **PAYLOADS}
_WORDS = {"int": "", "uint": "U"}


def plain(kind: pa.DataType) -> pa.DataType:
    """The type of the values themselves, and not of how they are laid out."""
    return kind.value_type if pt.is_dictionary(kind) else kind


def values(kind: pa.DataType) -> list[Any]:
    """Values of the type that meet often; also of decimals that some step has made."""
    if pt.is_decimal(kind) and kind not in KEYS:
        return [Decimal(number).scaleb(-kind.scale) for number in (0, 1, -7, 25)]
    return list(ALL[kind])


def can_be_key(kind: pa.DataType) -> bool:
    return not pt.is_nested(kind)


def is_text(kind: pa.DataType) -> bool:
    kind = plain(kind)
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def carrier(kind: pa.DataType) -> pa.DataType:
    """The Arrow type in which DuckDB gets the values."""
    kind = plain(kind)
    if pt.is_null(kind) or pt.is_date32(kind) or pt.is_time32(kind):
        return pa.int32()
    if pt.is_temporal(kind):
        return pa.int64()
    if pt.is_decimal(kind):
        return pa.decimal128(38, kind.scale)
    if pt.is_float16(kind):
        return pa.float32()
    if is_text(kind):
        return pa.large_string()
    if pt.is_binary_view(kind):
        return pa.large_binary()
    if pt.is_nested(kind):
        return plain_layout(kind)
    if pt.is_fixed_size_binary(kind) or pt.is_binary(kind):
        return pa.large_binary()
    return kind


def carried(table: pa.Table) -> pa.Table:
    """The table in types that DuckDB has, its columns called c0, c1, ..."""
    columns = [_carried(column) for column in laid_out(table).columns]
    return pa.table(columns, names=[f"c{index}" for index in range(len(columns))])


def _carried(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pt.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = carrier(column.type)
    if pt.is_time32(column.type) or pt.is_date32(column.type):
        return column.cast(pa.int32())
    return column if column.type.equals(kind) else column.cast(kind)


def sql_type(kind: pa.DataType) -> str:
    """What DuckDB calls the carrier."""
    kind = carrier(kind)
    if pt.is_decimal(kind):
        return f"DECIMAL(38,{kind.scale})"
    if pt.is_integer(kind):
        word = {8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}[kind.bit_width]
        return word if pt.is_signed_integer(kind) else f"U{word}"
    names = {pa.float32(): "FLOAT", pa.float64(): "DOUBLE", pa.bool_(): "BOOLEAN", pa.large_string(): "VARCHAR"}
    return names.get(kind, "BLOB")


def sql_value(value: Any, kind: pa.DataType) -> str:
    """A value of this type as DuckDB reads it."""
    name = sql_type(kind)
    if value is None:
        return f"NULL::{name}"
    (held,) = carried(pa.table({"x": pa.array([value], plain(kind))})).column(0).to_pylist()
    if isinstance(held, bool):
        return str(held)
    if isinstance(held, str):
        return _text(held)
    if isinstance(held, bytes):
        return "'" + "".join(f"\\x{byte:02X}" for byte in held) + "'::BLOB"
    return f"'{held}'::{name}"


def _text(held: str) -> str:
    parts = ["'" + part.replace("'", "''") + "'" for part in held.split("\0")]
    return "(" + " || chr(0) || ".join(parts) + ")"
