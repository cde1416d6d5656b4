"""Tables and expressions for the laws."""

from __future__ import annotations

import datetime
import operator
from decimal import Decimal

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from argosy.frame.expressions.columns import columns_of
from argosy.frame.expressions.nodes import Expr, col, lit, when

WORDS = st.text("aZ é漢😀,1", max_size=4)
DATES = st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1))
MOMENTS = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1))
SPANS = st.timedeltas(datetime.timedelta(days=-999), datetime.timedelta(days=999))


def integers(bits: int, signed: bool = True) -> st.SearchStrategy[int]:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return st.integers(max(low, -5), min(high, 5)) | st.sampled_from([low, high])


COLUMNS: dict[str, tuple[pa.DataType, st.SearchStrategy[object]]] = {
    "i8": (pa.int8(), integers(8)),
    "i32": (pa.int32(), integers(32)),
    "i64": (pa.int64(), integers(64)),
    "u8": (pa.uint8(), integers(8, signed=False)),
    "u64": (pa.uint64(), integers(64, signed=False)),
    "f32": (pa.float32(), st.floats(width=32)),
    "f64": (pa.float64(), st.floats()),
    "flag": (pa.bool_(), st.booleans()),
    "word": (pa.string(), WORDS),
    "long": (pa.large_string(), WORDS),
    "kind": (pa.dictionary(pa.int32(), pa.string()), WORDS),
    "raw": (pa.binary(), st.binary(max_size=3)),
    "day": (pa.date32(), DATES),
    "at": (pa.timestamp("us"), MOMENTS),
    "at_s": (pa.timestamp("s"), MOMENTS.map(lambda moment: moment.replace(microsecond=0))),
    "span": (pa.duration("ms"), SPANS.map(lambda span: datetime.timedelta(days=span.days))),
    "price": (pa.decimal128(9, 2), st.integers(-99999, 99999).map(lambda cents: Decimal(cents).scaleb(-2))),
    "half": (pa.float16(), st.floats(width=16).map(np.float16)),
    "view": (pa.string_view(), WORDS),
    "milli_day": (pa.date64(), DATES),
    "there": (pa.timestamp("ns", "Europe/Berlin"), MOMENTS.map(lambda moment: moment.replace(tzinfo=datetime.UTC))),
    "clock": (pa.time64("us"), st.times()),
    "nothing": (pa.null(), st.none()),
    "items": (pa.list_(pa.int64()), st.lists(st.integers(0, 3), max_size=2)),
}
SCHEMA = pa.schema([(name, kind) for name, (kind, _) in COLUMNS.items()])


@st.composite
def tables(draw: st.DrawFn, names: tuple[str, ...] = tuple(COLUMNS), max_rows: int = 8) -> pa.Table:
    """A table with nulls, in several chunks or none."""
    num_rows = draw(st.integers(0, max_rows))
    columns = {}
    for name in names:
        kind, values = COLUMNS[name]
        column = draw(st.lists(values | st.none(), min_size=num_rows, max_size=num_rows))
        columns[name] = pa.array(column, kind)
    table = pa.table(columns)
    cut = draw(st.integers(0, num_rows))
    pieces = draw(st.sampled_from([[table], [table[:cut], table[cut:]], []]))
    return pa.concat_tables(pieces) if pieces else table.schema.empty_table()


NOON = datetime.datetime(2020, 2, 29, 12)
PAST = datetime.datetime(1901, 12, 31, 23, 59, 59)
EDGES = pa.table(
    {
        "i8": pa.array([1, -128, 0, None], pa.int8()),
        "i32": pa.array([1, -(2**31), 0, None], pa.int32()),
        "i64": pa.array([3, -(2**63), 0, None], pa.int64()),
        "u8": pa.array([3, 255, 0, None], pa.uint8()),
        "u64": pa.array([1, 2**64 - 1, 0, None], pa.uint64()),
        "f32": pa.array([1.5, float("nan"), 0, None], pa.float32()),
        "f64": pa.array([1.5, float("-inf"), -0.0, None], pa.float64()),
        "flag": [True, False, True, None],
        "word": ["a", "é", "12", None],
        "long": pa.array(["a", "é", "12", None], pa.large_string()),
        "kind": pa.array(["a", "é", "a", None]).dictionary_encode(),
        "raw": [b"a", b"\xff", b"", None],
        "day": [NOON.date(), PAST.date(), datetime.date(1970, 1, 1), None],
        "at": [NOON, PAST, datetime.datetime(1970, 1, 1, 0, 0, 0, 1), None],
        "at_s": pa.array([NOON, PAST, None, None], pa.timestamp("s")),
        "span": pa.array([datetime.timedelta(1), datetime.timedelta(-1), None, None], pa.duration("ms")),
        "price": pa.array([Decimal("1.25"), Decimal("-9999999.99"), Decimal(0), None], pa.decimal128(9, 2)),
        "half": pa.array([np.float16(1.5), np.float16(-2), np.float16(0), None], pa.float16()),
        "view": pa.array(["a", "é", "12", None], pa.string_view()),
        "milli_day": pa.array([NOON.date(), PAST.date(), None, None], pa.date64()),
        "there": pa.array([NOON, PAST, None, None], pa.timestamp("ns", "Europe/Berlin")),
        "clock": [datetime.time(1), datetime.time(23, 59), None, None],
        "nothing": pa.nulls(4),
        "items": pa.array([[1], [], [2, 3], None], pa.list_(pa.int64())),
    }
)
EDGES = pa.concat_tables([EDGES[:1], EDGES[1:]])
"""All the columns, with the values at the ends of their types, in two chunks."""

LITERALS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([1000, 2**40, 2**63, 0.5, float("nan"), float("inf"), Decimal("1.25"), b"x"]),
    WORDS,
    DATES,
    MOMENTS,
    SPANS,
).map(lit)
BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    operator.and_, operator.or_, operator.xor, Expr.fill_null, Expr.clip,
]  # fmt: skip
UNARY = [
    operator.neg, operator.invert, Expr.is_null, Expr.is_not_null, Expr.is_nan, Expr.abs, Expr.floor, Expr.ceil,
    Expr.sqrt, Expr.exp, Expr.log, lambda x: x.log(10), lambda x: x.round(1), lambda x: x.round(-1),
    lambda x: x**2, lambda x: x.is_in([1, 2, None]), lambda x: x.is_in(["a", "é"]), lambda x: x.alias("x"),
    lambda x: x.str.upper(), lambda x: x.str.strip(), lambda x: x.str.len_chars(), lambda x: x.str.contains("a"),
    lambda x: x.str.contains("[a1]", literal=False), lambda x: x.str.starts_with("a"), lambda x: x.str.split(","),
    lambda x: x.str.replace("a", "bb"), lambda x: x.str.slice(-2, 1), lambda x: x.str.slice(1),
    lambda x: x.dt.year(), lambda x: x.dt.hour(), lambda x: x.dt.weekday(), lambda x: x.dt.ordinal_day(),
    lambda x: x.dt.date(), lambda x: x.dt.strftime("%d.%m.%Y %H:%M:%S"), lambda x: x.dt.truncate("month"),
    lambda x: x.dt.truncate("hour"), lambda x: x.dt.total_seconds(),
    lambda x: x.cast("int8"), lambda x: x.cast("uint64"), lambda x: x.cast(int), lambda x: x.cast(float),
    lambda x: x.cast("float32"), lambda x: x.cast(str), lambda x: x.cast(bool), lambda x: x.cast("date"),
    lambda x: x.cast(datetime.datetime), lambda x: x.cast("large_string"), lambda x: x.cast(pa.decimal128(12, 3)),
]  # fmt: skip


def _grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(lambda op, a, b: op(a, b), st.sampled_from(BINARY), inner, inner),
        st.builds(lambda op, a: op(a), st.sampled_from(UNARY), inner),
        st.builds(lambda a, b, c: a.between(b, c), inner, inner, inner),
        st.builds(lambda a, b, c: when(a).then(b).otherwise(c), inner, inner, inner),
        st.builds(lambda a, b, c, d: when(a).then(b).when(c).then(d), inner, inner, inner, inner),
    )


ANY_EXPRESSION = st.recursive(st.sampled_from(list(COLUMNS)).map(col) | LITERALS, _grow, max_leaves=5)
"""Of any columns and operations, most of which do not go together."""


@st.composite
def expressions_with_tables(draw: st.DrawFn) -> tuple[Expr, pa.Table]:
    """An expression, and a table with the columns that it reads and one more."""
    expr = draw(ANY_EXPRESSION)
    return expr, draw(tables(tuple(sorted(columns_of(expr) | {"i8"})), max_rows=5))
