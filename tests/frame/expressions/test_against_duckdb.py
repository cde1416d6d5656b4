"""The same expression in SQL gives the same column: null and its logic above all."""

from __future__ import annotations

import datetime
import math

import duckdb
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.frame.expressions import Expr, col, lit, when
from argosy.frame.expressions.evaluate import evaluate

Pair = tuple[Expr, str]
"""An expression and its SQL."""

WORDS = st.text("aé漢 Z", max_size=3)
DAYS = st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1))
VALUES = {
    "i": (pa.int64(), st.integers(-9, 9)),
    "j": (pa.int32(), st.integers(-9, 9)),
    "x": (pa.float64(), st.floats(-9, 9) | st.sampled_from([math.inf, -math.inf])),
    "p": (pa.bool_(), st.booleans()),
    "q": (pa.bool_(), st.booleans()),
    "s": (pa.string(), WORDS),
    "d": (pa.date32(), DAYS),
    "t": (pa.timestamp("us"), st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1))),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    num_rows = draw(st.integers(0, 6))
    return pa.table(
        {
            name: pa.array(draw(st.lists(values | st.none(), min_size=num_rows, max_size=num_rows)), kind)
            for name, (kind, values) in VALUES.items()
        }
    )


def columns(*names: str) -> st.SearchStrategy[Pair]:
    return st.sampled_from([(col(name), name) for name in names])


def _numbers(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    two = st.tuples(inner, inner)
    return st.one_of(
        two.map(lambda ab: (ab[0][0] + ab[1][0], f"({ab[0][1]} + {ab[1][1]})")),
        two.map(lambda ab: (ab[0][0] - ab[1][0], f"({ab[0][1]} - {ab[1][1]})")),
        two.map(lambda ab: (ab[0][0] * ab[1][0], f"({ab[0][1]} * {ab[1][1]})")),
        two.map(lambda ab: (ab[0][0].fill_null(ab[1][0]), f"coalesce({ab[0][1]}, {ab[1][1]})")),
        inner.map(lambda a: (-a[0], f"(-{a[1]})")),
        inner.map(lambda a: (a[0].abs(), f"abs({a[1]})")),
        inner.map(lambda a: (a[0] + 3, f"({a[1]} + 3)")),
    )


WHOLE = st.recursive(columns("i", "j").map(lambda a: (a[0].cast(int), f"{a[1]}::BIGINT")), _numbers, max_leaves=3)
REAL = st.one_of(
    columns("x"),
    WHOLE.map(lambda a: (a[0] / 4, f"({a[1]} / 4)")),
    WHOLE.map(lambda a: (a[0].cast(float), f"{a[1]}::DOUBLE")),
    columns("x").map(lambda a: (a[0].floor(), f"floor({a[1]})")),
    columns("x").map(lambda a: (a[0].ceil(), f"ceil({a[1]})")),
)
TEXT = st.recursive(
    columns("s"),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda ab: (ab[0][0] + ab[1][0], f"({ab[0][1]} || {ab[1][1]})")),
        inner.map(lambda a: (a[0].str.upper(), f"upper({a[1]})")),
        inner.map(lambda a: (a[0].str.slice(1, 2), f"substring({a[1]}, 2, 2)")),
        inner.map(lambda a: (a[0].str.replace("é", "ab"), f"replace({a[1]}, 'é', 'ab')")),
        inner.map(lambda a: (a[0].fill_null("?"), f"coalesce({a[1]}, '?')")),
    ),
    max_leaves=3,
)
TIME = st.one_of(
    columns("d", "t").map(lambda a: (a[0].dt.year(), f"year({a[1]})")),
    columns("d", "t").map(lambda a: (a[0].dt.month(), f"month({a[1]})")),
    columns("d", "t").map(lambda a: (a[0].dt.weekday(), f"isodow({a[1]})")),
    columns("d", "t").map(lambda a: (a[0].dt.ordinal_day(), f"dayofyear({a[1]})")),
    columns("t").map(lambda a: (a[0].dt.truncate("week"), f"date_trunc('week', {a[1]})::TIMESTAMP")),
    columns("t").map(lambda a: (a[0].dt.truncate("quarter"), f"date_trunc('quarter', {a[1]})::TIMESTAMP")),
    columns("d", "t").map(lambda a: (a[0].dt.strftime("%d.%m.%Y"), f"strftime({a[1]}, '%d.%m.%Y')")),
    columns("t").map(lambda a: (a[0].dt.date(), f"{a[1]}::DATE")),
)


def _compared(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    two = st.tuples(inner, inner)
    return st.one_of(
        two.map(lambda ab: (ab[0][0] == ab[1][0], f"({ab[0][1]} = {ab[1][1]})")),
        two.map(lambda ab: (ab[0][0] != ab[1][0], f"({ab[0][1]} <> {ab[1][1]})")),
        two.map(lambda ab: (ab[0][0] < ab[1][0], f"({ab[0][1]} < {ab[1][1]})")),
        two.map(lambda ab: (ab[0][0] >= ab[1][0], f"({ab[0][1]} >= {ab[1][1]})")),
        st.tuples(inner, inner, inner).map(
            lambda abc: (abc[0][0].between(abc[1][0], abc[2][0]), f"({abc[0][1]} BETWEEN {abc[1][1]} AND {abc[2][1]})")
        ),
        inner.map(lambda a: (a[0].is_null(), f"({a[1]} IS NULL)")),
    )


TRUTH = st.recursive(
    st.one_of(
        columns("p", "q"),
        st.just((lit(None).cast(bool), "NULL::BOOLEAN")),
        _compared(columns("i", "j")),
        _compared(columns("i", "x")),
        _compared(columns("s")),
        _compared(columns("d", "t")),
        columns("i", "j").map(lambda a: (a[0].is_in([1, 2, 3]), f"({a[1]} IN (1, 2, 3))")),
        columns("i", "j").map(lambda a: (a[0].is_in([1, None]), f"({a[1]} IN (1, NULL))")),
        columns("s").map(lambda a: (a[0].str.contains("a"), f"contains({a[1]}, 'a')")),
        columns("s").map(lambda a: (a[0].str.starts_with("é"), f"starts_with({a[1]}, 'é')")),
    ),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda ab: (ab[0][0] & ab[1][0], f"({ab[0][1]} AND {ab[1][1]})")),
        st.tuples(inner, inner).map(lambda ab: (ab[0][0] | ab[1][0], f"({ab[0][1]} OR {ab[1][1]})")),
        inner.map(lambda a: (~a[0], f"(NOT {a[1]})")),
    ),
    max_leaves=4,
)


def _chosen(value: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    return st.tuples(TRUTH, value, TRUTH, value, value).map(
        lambda five: (
            when(five[0][0]).then(five[1][0]).when(five[2][0]).then(five[3][0]).otherwise(five[4][0]),
            f"CASE WHEN {five[0][1]} THEN {five[1][1]} WHEN {five[2][1]} THEN {five[3][1]} ELSE {five[4][1]} END",
        )
    )


ANY = st.one_of(WHOLE, REAL, TEXT, TIME, TRUTH, _chosen(WHOLE), _chosen(TEXT), _chosen(REAL))


@given(pairs=st.lists(ANY, min_size=1, max_size=4), rows=tables())
@settings(max_examples=100, deadline=None)
def test_a_column_is_the_same_as_in_sql(pairs: list[Pair], rows: pa.Table) -> None:
    asked = ", ".join(f"{sql} AS c{place}" for place, (_, sql) in enumerate(pairs))
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        theirs = connection.sql(f"SELECT {asked} FROM rows").to_arrow_table()
    for (expr, sql), wanted in zip(pairs, theirs.columns, strict=True):
        mine = evaluate(expr, rows)
        assert str(mine.to_pylist()) == str(wanted.cast(mine.type).to_pylist()), sql
