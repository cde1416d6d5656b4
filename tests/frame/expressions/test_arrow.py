"""Predicates in Arrow's words pick the rows that they pick in ours."""

from __future__ import annotations

import datetime
import io
import operator
from decimal import Decimal

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from frame.expressions.tables import COLUMNS, tables
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import FrameError
from argosy.frame.expressions import Expr, col, lit
from argosy.frame.expressions.arrow import to_arrow
from argosy.frame.expressions.evaluate import evaluate

VALUES: dict[str, st.SearchStrategy[object]] = {
    name: COLUMNS[name][1] for name in ("i8", "i64", "u64", "f32", "f64", "word", "kind", "day", "at", "price", "flag")
}
NUMBERS = ("i8", "i64", "u64", "f32", "f64", "price")


@st.composite
def atoms(draw: st.DrawFn) -> Expr:
    name = draw(st.sampled_from(list(VALUES)))
    value = VALUES[name] if name not in NUMBERS else st.one_of(*(VALUES[one] for one in NUMBERS))
    compare = draw(st.sampled_from([operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]))
    other = draw(value | st.none())
    number = draw(st.sampled_from(NUMBERS))
    choices = [
        compare(col(name), other),
        compare(other, col(name)),
        compare(col(number), col(draw(st.sampled_from(NUMBERS)))),
        col(name).between(other, draw(value)),
        col(name).is_in(draw(st.lists(VALUES[name] | st.none(), max_size=3))),
        col(name).is_null(),
        col(name).is_not_null(),
        col("flag"),
        lit(True),
        lit(None).cast(bool),
        col("word").str.starts_with("a"),
    ]
    return draw(st.sampled_from(choices))


PREDICATES = st.recursive(
    atoms(),
    lambda inner: st.one_of(
        st.builds(operator.and_, inner, inner), st.builds(operator.or_, inner, inner), st.builds(operator.invert, inner)
    ),
    max_leaves=4,
)


def scanned(table: pa.Table, predicate: object) -> pa.Table:
    """What a scan of a Parquet file with two rows in a row group gives."""
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=2)
    source = pa.BufferReader(file.getvalue())
    fragment = ds.ParquetFileFormat().make_fragment(source)
    return fragment.to_table(filter=predicate, schema=table.schema)


@given(predicate=PREDICATES, table=tables(tuple(VALUES), max_rows=6))
@settings(max_examples=100, deadline=None)
def test_a_scan_gives_the_rows_for_which_the_predicate_is_true(predicate: Expr, table: pa.Table) -> None:
    table = table.append_column("row", pa.array(range(table.num_rows), pa.int64()))
    arrow = to_arrow(predicate, table.schema)
    if arrow is None:
        return
    try:
        wanted = table.filter(evaluate(predicate, table))
    except FrameError:
        return
    assert scanned(table, arrow)["row"].to_pylist() == wanted["row"].to_pylist()


@pytest.mark.parametrize(
    "predicate",
    [
        col("i8") > 0,
        (col("f64") <= 1) & (col("word") == "a"),
        col("kind") == "a",
        ~(col("i64") == 3) | col("flag"),
        col("day") >= datetime.date(2020, 1, 1),
        col("at").between(datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)),
        col("price") < Decimal("1.5"),
        col("word").is_in(["a", "b"]),
        col("word").is_null(),
        (col("i8") > 0).alias("positive"),
    ],
    ids=repr,
)
def test_common_predicates_reach_the_scan(predicate: Expr) -> None:
    schema = pa.schema([(name, COLUMNS[name][0]) for name in VALUES])
    assert to_arrow(predicate, schema) is not None


def test_a_column_of_the_right_type_is_not_cast_so_that_statistics_count() -> None:
    schema = pa.schema({"a": pa.int8(), "t": pa.timestamp("us")})
    assert "cast" not in str(to_arrow((col("a") > 5) & (col("t") > datetime.datetime(2020, 1, 1)), schema))


def test_nan_is_not_lost_where_statistics_leave_it_out() -> None:
    table = pa.table({"x": [1.0, float("nan"), 1.0, 1.0]})
    for predicate in (col("x") != 1.0, ~(col("x") < 5), ~col("x").is_in([1.0])):
        assert to_arrow(predicate, table.schema) is None
    for predicate in (col("x") == 1.0, (col("x") < 5) | (col("x") > 7)):
        assert scanned(table, to_arrow(predicate, table.schema)).num_rows == 3
