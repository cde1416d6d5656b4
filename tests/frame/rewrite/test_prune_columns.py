"""Columns that nobody needs are left out where they first appear."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame import reference

import argosy
from argosy import col
from argosy.frame.dataframe import DataFrame
from argosy.frame.plan import Aggregate, Join, Scan, SetOperation
from argosy.frame.rewrite import rewrite


@pytest.fixture
def files(tmp_path: Path) -> DataFrame:
    table = pa.table({"k": [1, 2, 2], "a": [1, 2, 3], "b": [4, 5, 6], "c": ["x", "y", "z"], "t": [True, False, True]})
    pq.write_table(table, tmp_path / "one.parquet")
    return argosy.read_parquet(tmp_path)


def columns_read(frame: DataFrame) -> list[tuple[str, ...]]:
    plan = rewrite(frame.plan)
    return [tuple(one.schema.names) for one in plan.walk() if isinstance(one, Scan)]


def test_only_the_selected_columns_are_read(files: DataFrame) -> None:
    assert columns_read(files.sort("b").head(2).select("c")) == [("b", "c")]


def test_a_column_of_the_filter_alone_is_not_kept(files: DataFrame) -> None:
    assert columns_read(files.filter(col("a") > 1).select("c")) == [("c",)]


def test_a_join_reads_its_keys_and_what_is_needed_above(files: DataFrame) -> None:
    other = files.select("k", "b")
    assert columns_read(files.join(other, on="k").select("a", "b_right")) == [("k", "a"), ("k", "b")]


def test_a_column_keeps_its_name_when_the_one_that_took_it_goes(files: DataFrame) -> None:
    frame = files.join(files, on="k").select("a_right")
    plan = rewrite(frame.plan)
    assert plan.schema.names == ["a_right"]
    assert reference.same_rows(reference.run(plan), reference.run(frame.plan))


def test_a_semi_join_reads_only_the_keys_of_the_right(files: DataFrame) -> None:
    assert columns_read(files.join(files, on="k", how="semi").select("a")) == [("k", "a"), ("k",)]


def test_an_aggregate_that_nobody_needs_is_not_computed(files: DataFrame) -> None:
    frame = files.group_by("k").agg(total=col("a").sum(), most=col("b").max()).select("most")
    (aggregate,) = [one for one in rewrite(frame.plan).walk() if isinstance(one, Aggregate)]
    assert [agg.name for agg in aggregate.aggs] == ["most"]
    assert columns_read(frame) == [("k", "b")]


def test_counting_rows_reads_the_narrowest_column(files: DataFrame) -> None:
    assert columns_read(files.group_by().agg(n=argosy.count())) == [("t",)]


def test_where_no_column_is_needed_the_narrowest_counts_the_rows(files: DataFrame, tmp_path: Path) -> None:
    assert columns_read(files.select(one=argosy.lit(1))) == [("t",)]
    pq.write_table(pa.table({"s": ["x"], "n": [1]}), tmp_path / "wide.parquet")
    assert columns_read(argosy.read_parquet(tmp_path / "wide.parquet").select(one=argosy.lit(1))) == [("n",)]


def test_set_operations_need_all_columns(files: DataFrame) -> None:
    plan = rewrite(files.union(files).select("a").plan)
    (union,) = [one for one in plan.walk() if isinstance(one, SetOperation)]
    assert union.schema.names == ["k", "a", "b", "c", "t"]


def test_shuffles_carry_only_what_is_needed(files: DataFrame) -> None:
    frame = files.filter(col("c") == "x").join(files.filter(col("t")), on="k").select("a")
    (join,) = [one for one in rewrite(frame.plan).walk() if isinstance(one, Join)]
    assert join.left.schema.names == ["k", "a"]
    assert join.right.schema.names == ["k"]
