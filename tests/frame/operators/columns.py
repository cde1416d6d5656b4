"""Small random tables of every type that Arrow has, in chunks and slices, with values that meet often."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

_DAY = dt.datetime(2024, 2, 29, 23, 59, 59)
_TEXTS = ["", "a", "a\0", "a\0b", "ab", "é", "日本", "a common prefix", "a common prefix 1", "a common prefix 2", "zz"]
_BYTES = [text.encode() for text in _TEXTS] + [b"\0", b"\xff", b"\xff\xff\0"]
_FLOATS = [float("nan"), -0.0, 0.0, 1.5, -1.5, float("inf"), float("-inf")]

KEYS: dict[pa.DataType, Sequence[Any]] = {
    pa.int64(): [0, 1, 2, -1, 2**63 - 1, -(2**63)],
    pa.int32(): [0, 1, -1, 2**31 - 1, -(2**31)],
    pa.int8(): [0, 1, -1, 127, -128],
    pa.uint64(): [0, 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1],
    pa.uint16(): [0, 1, 2**16 - 1],
    pa.string(): _TEXTS,
    pa.large_string(): _TEXTS,
    pa.binary(): _BYTES,
    pa.large_binary(): _BYTES,
    pa.binary(3): [b"abc", b"abd", b"\0\0\0", b"\xff\0\0", b"\0\0\xff"],
    pa.binary(8): [b"abcdefgh", b"abcdefgi", b"\0" * 8, b"\xff" + b"\0" * 7, b"\0" * 7 + b"\xff"],
    pa.float64(): _FLOATS,
    pa.float32(): _FLOATS,
    pa.float16(): _FLOATS,
    pa.bool_(): [True, False],
    pa.date32(): [dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2024, 2, 29)],
    pa.date64(): [dt.date(1969, 12, 31), dt.date(2024, 2, 29)],
    pa.timestamp("us"): [_DAY, _DAY + dt.timedelta(microseconds=1), dt.datetime(1, 1, 1)],
    pa.timestamp("s", "Europe/Paris"): [_DAY.replace(tzinfo=dt.UTC), dt.datetime(1969, 1, 1, tzinfo=dt.UTC)],
    pa.time32("ms"): [dt.time(0), dt.time(23, 59, 59, 999000)],
    pa.time64("us"): [dt.time(0), dt.time(1, 2, 3, 4)],
    pa.duration("us"): [dt.timedelta(0), dt.timedelta(microseconds=-1), dt.timedelta(days=9)],
    pa.decimal32(7, 2): [Decimal("0.00"), Decimal("-1.50"), Decimal("99999.99")],
    pa.decimal128(20, 2): [Decimal("0.00"), Decimal("-0.01"), Decimal("123456789012345678.90")],
    pa.decimal256(50, 1): [Decimal("0.0"), Decimal("-0.1"), Decimal("1" * 40 + ".0")],
    pa.dictionary(pa.int32(), pa.string()): _TEXTS,
    pa.dictionary(pa.int8(), pa.int64()): [0, 1, -(2**63)],
    pa.null(): [None],
}
"""Types that can be keys, with values that lie at their ends, look alike, or are equal though they differ."""

NUMBERS = {kind: KEYS[kind] for kind in KEYS if pa.types.is_integer(kind) or pa.types.is_floating(kind)}

PAYLOADS: dict[pa.DataType, Sequence[Any]] = KEYS | {
    pa.list_(pa.int64()): [[], [1], [1, None, 2]],
    pa.large_list(pa.string()): [[], ["a", None]],
    pa.list_(pa.int32(), 2): [[1, 2], [None, 3]],
    pa.struct([("x", pa.int64()), ("y", pa.list_(pa.string()))]): [{"x": 1, "y": ["é"]}, {"x": None, "y": None}],
    pa.map_(pa.string(), pa.int64()): [[], [("a", 1)], [("a", 1), ("b", None)]],
    pa.month_day_nano_interval(): [pa.MonthDayNano([1, -1, 5]), pa.MonthDayNano([0, 0, 0])],
}
"""Types that can ride along."""


def kinds(pools: dict[pa.DataType, Sequence[Any]] = KEYS) -> st.SearchStrategy[pa.DataType]:
    return st.sampled_from(list(pools))


@st.composite
def columns(draw: Draw, kind: pa.DataType, num_rows: int) -> pa.ChunkedArray:
    """Values of this type, null now and then, in one to three chunks that may be slices of something longer."""
    value = st.none() | st.sampled_from(PAYLOADS[kind]) if draw(st.booleans()) else st.sampled_from(PAYLOADS[kind])
    values = draw(st.lists(value, min_size=num_rows, max_size=num_rows))
    cuts = sorted(draw(st.lists(st.integers(0, num_rows), max_size=2)))
    before = draw(st.sampled_from([0, 1, 9]))
    chunks = []
    for start, stop in zip([0, *cuts], [*cuts, num_rows], strict=True):
        longer = [*PAYLOADS[kind][:1]] * before + values[start:stop]
        chunks.append(pa.array(longer, kind).slice(before))
    return pa.chunked_array(chunks, kind)


@st.composite
def tables(
    draw: Draw, kinds_of: dict[str, pa.DataType], max_rows: int = 12, num_payloads: int | None = None, mark: str = "row"
) -> pa.Table:
    """Columns of these types, up to two of any type, and one that numbers the rows."""
    num_rows = draw(st.integers(0, max_rows))
    arrays = {name: draw(columns(kind, num_rows)) for name, kind in kinds_of.items()}
    for index in range(draw(st.integers(0, 2)) if num_payloads is None else num_payloads):
        arrays[f"p{index}"] = draw(columns(draw(kinds(PAYLOADS)), num_rows))
    arrays[mark] = pa.chunked_array([pa.array(range(num_rows), pa.int64())])
    names = draw(st.permutations(list(arrays)))
    return pa.table({name: arrays[name] for name in names})
