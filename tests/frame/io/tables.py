"""Tables of all common Arrow types, for round trips through files."""

from __future__ import annotations

import datetime as dt
import decimal

import pyarrow as pa
from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
_DAYS = st.dates(dt.date(1900, 1, 1), dt.date(2200, 1, 1))
_TIMES = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1))

FLAT: list[tuple[pa.DataType, st.SearchStrategy[object]]] = [
    (pa.bool_(), st.booleans()),
    *[
        (kind, st.integers(-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1))
        for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())
    ],
    *[(kind, st.integers(0, 2**kind.bit_width - 1)) for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())],
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.floats()),
    (pa.string(), TEXT),
    (pa.large_string(), TEXT),
    (pa.binary(), st.binary(max_size=8)),
    (pa.date32(), _DAYS),
    (pa.timestamp("ms"), _TIMES.map(lambda time: time.replace(microsecond=0))),
    (pa.timestamp("us"), _TIMES),
    (pa.timestamp("ns", "UTC"), _TIMES.map(lambda time: time.replace(tzinfo=dt.UTC))),
    (pa.time64("us"), st.times()),
    (pa.duration("us"), st.timedeltas(dt.timedelta(days=-999), dt.timedelta(days=999))),
    (pa.decimal128(12, 3), st.integers(-(10**11), 10**11).map(lambda whole: decimal.Decimal(whole).scaleb(-3))),
    (pa.dictionary(pa.int32(), pa.string()), TEXT),
]
NESTED: list[tuple[pa.DataType, st.SearchStrategy[object]]] = [
    (pa.list_(pa.int64()), st.lists(st.integers(-9, 9) | st.none(), max_size=3)),
    (pa.struct([("a", pa.int64()), ("b", pa.string())]), st.fixed_dictionaries({"a": st.integers(-9, 9), "b": TEXT})),
    (
        pa.map_(pa.string(), pa.int64()),
        st.dictionaries(TEXT, st.integers(-9, 9), max_size=3).map(lambda d: [*d.items()]),
    ),
]


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 12) -> pa.Table:
    num_rows = draw(st.integers(0, max_rows))
    kinds = draw(st.lists(st.sampled_from([*FLAT, *NESTED]), min_size=1, max_size=6))
    columns = {
        f"c{place}": pa.array(draw(st.lists(values | st.none(), min_size=num_rows, max_size=num_rows)), kind)
        for place, (kind, values) in enumerate(kinds)
    }
    return pa.table(columns)


def same(one: pa.Table, other: pa.Table) -> bool:
    """Equal in every value, where NaN equals NaN, whatever the chunks and dictionaries are."""
    return one.schema.equals(other.schema) and repr(one.to_pylist()) == repr(other.to_pylist())
