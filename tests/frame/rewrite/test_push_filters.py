"""Rows are filtered as early as can be."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame import reference

import argosy
from argosy import col, lit
from argosy.frame.dataframe import DataFrame
from argosy.frame.plan import Aggregate, Concat, Distinct, Filter, Join, Memory, Operation, Project, Scan, Slice, Sort
from argosy.frame.rewrite import rewrite
from argosy.frame.rewrite.push_filters import push_filters

LEFT = argosy.from_pydict({"k": [1, 2, None], "a": [1, 5, 9], "s": ["x", "1", "2"]})
RIGHT = argosy.from_pydict({"k": [1, 2, 2], "b": [1, 2, 3], "a": [4, 5, 6]})


def where(plan: Operation, kind: type[Operation]) -> list[str]:
    """The conditions that stand right above operations of this kind."""
    filters = [one for one in plan.walk() if isinstance(one, Filter) and isinstance(one.input, kind)]
    return [repr(one.predicate) for one in filters]


def test_a_filter_goes_into_the_files(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 2, 3], "b": [4, 5, 6]}), tmp_path / "one.parquet")
    frame = argosy.read_parquet(tmp_path).sort("b").filter(col("a") > 1).filter(col("b") < 6).select("b")
    plan = rewrite(frame.plan)
    (scan,) = [one for one in plan.walk() if isinstance(one, Scan)]
    assert repr(scan.predicate) == repr((col("a") > 1) & (col("b") < 6))
    assert scan.columns == ("b",)
    assert not [one for one in plan.walk() if isinstance(one, Filter)]
    assert reference.run(plan).to_pydict() == {"b": [5]}


def test_a_filter_sees_through_a_computed_column() -> None:
    plan = push_filters(LEFT.with_columns(z=col("a") * 2).filter(col("z") > 4).plan)
    assert isinstance(plan, Project)
    assert where(plan, Memory) == [repr(col("a") * 2 > 4)]


def test_two_filters_become_one() -> None:
    plan = push_filters(LEFT.filter(col("a") > 1).filter(col("k") > 1).plan)
    assert where(plan, Memory) == [repr((col("a") > 1) & (col("k") > 1))]


def test_a_filter_that_can_fail_stays_above_the_one_that_protects_it() -> None:
    guarded = LEFT.filter(col("s").str.len_chars() > 0).filter(col("s") != "x").filter(col("s").cast("int64") > 1)
    plan = rewrite(guarded.plan)
    assert where(plan, Filter) == [repr(col("s").cast("int64") > 1)]
    assert reference.run(plan).to_pydict() == {"k": [None], "a": [9], "s": ["2"]}


def test_integer_arithmetic_stays_above_a_join_that_may_leave_the_overflow_out() -> None:
    plan = rewrite(LEFT.join(RIGHT, on="k").filter(col("a") * 2**61 > 0).plan)
    assert len(where(plan, Join)) == 1


@pytest.mark.parametrize(
    ("how", "on_left", "on_right"),
    [
        ("inner", True, True),
        ("left", True, False),
        ("right", False, True),
        ("full", False, False),
        ("cross", True, True),
    ],
)
def test_a_filter_goes_to_the_side_of_a_join_that_may_lose_rows(how: str, on_left: bool, on_right: bool) -> None:
    keys = {} if how == "cross" else {"on": "k"}
    frame = LEFT.join(RIGHT, how=how, **keys)  # type: ignore[arg-type]
    from_left = push_filters(frame.filter(col("a").is_null()).plan)
    assert where(from_left, Memory) == ([repr(col("a").is_null())] if on_left else [])
    from_right = push_filters(frame.filter(col("a_right").is_null()).plan)
    assert where(from_right, Memory) == ([repr(col("a").is_null())] if on_right else [])


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_a_filter_on_the_key_goes_to_both_sides_of_a_join(how: str) -> None:
    other = argosy.from_pydict({"key": [1, 2, 2]})
    frame = LEFT.join(other, left_on="k", right_on="key", how=how).filter(col("k") > 1)  # type: ignore[arg-type]
    assert where(push_filters(frame.plan), Memory) == [repr(col("k") > 1), repr(col("key") > 1)]


def test_a_filter_over_both_sides_stays_above_the_join() -> None:
    plan = push_filters(LEFT.join(RIGHT, on="k").filter(col("a") > col("b")).plan)
    assert where(plan, Join) == [repr(col("a") > col("b"))]


def test_a_filter_over_all_columns_of_the_right_goes_there() -> None:
    plan = push_filters(LEFT.join(RIGHT, on="k").filter(col("b") < col("a_right")).plan)
    assert where(plan, Memory) == [repr(col("b") < col("a"))]


@pytest.mark.parametrize("how", ["semi", "anti"])
def test_a_filter_above_a_semi_or_anti_join_goes_to_the_left(how: str) -> None:
    plan = push_filters(LEFT.join(RIGHT, on="k", how=how).filter(col("a") > 1).plan)  # type: ignore[arg-type]
    assert where(plan, Memory) == [repr(col("a") > 1)]


@pytest.mark.parametrize("frame", [LEFT.union(LEFT), LEFT.unique(), LEFT.unique("k"), LEFT.filter(col("k") > 0)])
def test_a_filter_that_may_fail_stays_above_what_leaves_rows_out(frame: DataFrame) -> None:
    above = frame.filter(col("a") * 2 > 2)
    assert push_filters(above.plan) is above.plan


def test_a_filter_goes_below_sort_concat_and_unique() -> None:
    frame = LEFT.concat(LEFT).unique().sort("a").filter(col("a") > 1)
    plan = push_filters(frame.plan)
    assert [type(one) for one in plan.walk()] == [Memory, Filter, Memory, Filter, Concat, Distinct, Sort]


def test_only_a_filter_on_the_keys_goes_below_an_aggregate() -> None:
    groups = LEFT.group_by("k").agg(total=col("a").sum())
    assert where(push_filters(groups.filter(col("k") > 1).plan), Memory) == [repr(col("k") > 1)]
    assert where(push_filters(groups.filter(col("total") > 1).plan), Aggregate) == [repr(col("total") > 1)]


def test_a_condition_on_no_column_stays_above_the_one_row_of_an_aggregate() -> None:
    frame = LEFT.group_by().agg(n=argosy.count()).filter(lit(False))
    assert reference.run(rewrite(frame.plan)).num_rows == 0


def test_a_filter_never_goes_below_a_slice() -> None:
    plan = rewrite(LEFT.head(2).filter(col("a") > 1).plan)
    assert where(plan, Slice) == [repr(col("a") > 1)]


def test_a_condition_that_tells_zeros_apart_stays_above_what_takes_them_for_equal() -> None:
    frame = argosy.from_pydict({"x": [0.0, -0.0]}).unique().filter(1 / col("x") > 0)
    assert len(where(rewrite(frame.plan), Distinct)) == 1
