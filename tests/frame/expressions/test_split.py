"""Aggregates apart from what is computed before and after them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argosy.errors import FrameError, TypeMismatch, UnknownColumn
from argosy.frame.aggregates import result_type
from argosy.frame.expressions import Expr, col, count, lit
from argosy.frame.expressions.evaluate import evaluate
from argosy.frame.expressions.split import split_aggregates
from argosy.frame.plan import Agg

SCHEMA = pa.schema({"a": pa.int64(), "b": pa.float64(), "g": pa.string(), "_agg_0": pa.int8(), "_column_0": pa.int8()})
A, B, G = col("a"), col("b"), col("g")


def names(pairs: tuple[tuple[str, Expr], ...]) -> list[str]:
    return [name for name, _ in pairs]


def test_a_bare_aggregate_goes_under_its_own_name() -> None:
    split = split_aggregates([("total", A.sum()), ("n", count())], ["g"], SCHEMA)
    assert names(split.before) == ["g", "a"]
    assert split.aggs == (Agg(name="total", kind="sum", column="a"), Agg(name="n", kind="len", column=None))
    assert names(split.after) == ["g", "total", "n"]


def test_equal_aggregates_are_computed_once_and_names_do_not_collide() -> None:
    split = split_aggregates([("x", (A * 2).sum() / count()), ("y", (A * 2).sum()), ("z", (A * 2).max())], [], SCHEMA)
    assert len(split.aggs) == 3
    assert {agg.column for agg in split.aggs} == {"_column_1", None}
    assert names(split.before) == ["_column_1"]
    assert names(split.after) == ["x", "y", "z"]
    assert all(agg.name not in ("_agg_0", "a", "b", "g") for agg in split.aggs)


def test_a_key_may_stand_beside_an_aggregate() -> None:
    split = split_aggregates([("label", G + A.sum().cast("string"))], ["g"], SCHEMA)
    assert columns_named(split.after[1][1]) == {"g", split.aggs[0].name}


def columns_named(expr: Expr) -> set[str]:
    return {one.name for one in expr.inputs if hasattr(one, "name")} | {
        name for one in expr.inputs for name in columns_named(one)
    }


def test_a_count_alone_still_reads_a_column_so_that_rows_can_be_counted() -> None:
    split = split_aggregates([("n", count())], [], SCHEMA)
    assert names(split.before) == ["_agg_0"]
    assert split_aggregates([("n", count())], [], pa.schema([])).before == ()


@pytest.mark.parametrize(
    ("named", "error", "words"),
    [
        ([("x", A)], TypeMismatch, r'col\("a"\) is not one value for a group; say which with an aggregate'),
        ([("x", lit(1))], TypeMismatch, "not one value for a group"),
        ([("x", A.sum().max())], TypeMismatch, "aggregates an aggregate; do it in two steps"),
        ([("x", A.sum() + B)], TypeMismatch, "has many values in a group and stands beside an aggregate"),
        ([("x", G.sum())], TypeMismatch, r'col\("g"\)\.sum\(\): string cannot be added up'),
        ([("x", col("z").sum())], UnknownColumn, "no column 'z'"),
        ([("g", count())], FrameError, "two columns of the result would be called 'g'"),
    ],
)
def test_what_is_not_one_value_for_a_group_is_refused(
    named: list[tuple[str, Expr]], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        split_aggregates(named, ["g"], SCHEMA)


@given(rows=st.lists(st.tuples(st.integers(-9, 9), st.floats(-9, 9)), min_size=1, max_size=6))
def test_the_three_steps_give_what_the_expressions_say(rows: list[tuple[int, float]]) -> None:
    a, b = zip(*rows, strict=True)
    table = pa.table({"a": a, "b": b})
    asked = [("mean", (A * 2).sum() / count()), ("range", A.max() - A.min()), ("low", B.min().fill_null(0))]
    split = split_aggregates(asked, [], table.schema)
    before = pa.table({name: evaluate(expr, table) for name, expr in split.before})
    plain = {"sum": sum, "min": min, "max": max}
    one_row = pa.table(
        {
            agg.name: pa.array(
                [len(rows) if agg.column is None else plain[agg.kind](before[agg.column].to_pylist())],
                result_type(agg, before.schema),
            )
            for agg in split.aggs
        }
    )
    results = {name: evaluate(expr, one_row)[0].as_py() for name, expr in split.after}
    assert results == {"mean": 2 * sum(a) / len(a), "range": max(a) - min(a), "low": min(b)}
