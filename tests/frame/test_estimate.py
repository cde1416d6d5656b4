"""Estimates are exact where the plan knows, and follow their rules above."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame import reference
from frame.random_frames import Drawn, frames
from hypothesis import HealthCheck, given, settings

import argosy
from argosy import col
from argosy.errors import FrameError
from argosy.frame.dataframe import DataFrame
from argosy.frame.estimate import estimate, share_of
from argosy.frame.known import known_rows

TABLE = pa.table({"k": range(1000), "a": [i % 7 for i in range(1000)], "s": ["text"] * 1000})
FRAME = argosy.from_arrow(TABLE)


def rows(frame: DataFrame) -> float:
    return estimate(frame.plan).num_rows


def test_a_table_in_memory_is_exact() -> None:
    assert rows(FRAME) == 1000
    assert estimate(FRAME.plan).nbytes == TABLE.nbytes


def test_a_file_is_as_large_as_its_metadata_says(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "one.parquet", row_group_size=100)
    frame = argosy.read_parquet(tmp_path)
    assert rows(frame) == 1000
    assert estimate(frame.select("k").plan).nbytes == pytest.approx(8000, rel=0.3)
    assert estimate(frame.plan).nbytes == pytest.approx(TABLE.nbytes, rel=0.5)


def test_row_groups_that_cannot_match_do_not_count(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "one.parquet", row_group_size=100)
    frame = argosy.read_parquet(tmp_path).filter(col("k") < 100)
    from argosy.frame.rewrite import rewrite

    assert estimate(rewrite(frame.plan)).num_rows <= 100


def test_projections_sorts_and_shuffles_keep_the_rows() -> None:
    assert rows(FRAME.select("k").sort("k").shuffle(1).repartition()) == 1000
    assert estimate(FRAME.select("k").plan).nbytes == 8000
    assert estimate(FRAME.select(x=col("a") * 2, y=col("a") > 1).plan).nbytes == pytest.approx(8125)


def test_conditions_multiply() -> None:
    one, other = col("a") == 1, col("k") > 3
    assert share_of(one & other) == pytest.approx(share_of(one) * share_of(other))
    assert share_of(~one) == pytest.approx(1 - share_of(one))
    assert share_of(one | other) > max(share_of(one), share_of(other))
    assert rows(FRAME.filter(one, other)) == pytest.approx(1000 * share_of(one) * share_of(other))


def test_more_values_match_more_rows() -> None:
    assert share_of(col("a").is_in([1])) < share_of(col("a").is_in([1, 2, 3])) < 1


def test_a_join_with_a_table_of_keys_keeps_the_rows_of_the_larger() -> None:
    small = argosy.from_pydict({"a": range(7), "name": range(7)})
    assert rows(FRAME.join(small, on="a")) == 1000
    assert rows(FRAME.join(small.filter(col("name") == 1), on="a")) == pytest.approx(100)
    assert rows(FRAME.join(small, how="cross")) == 7000
    assert rows(FRAME.join(small.filter(col("name") == 1), on="a", how="left")) == 1000


def test_an_aggregate_without_keys_is_one_row() -> None:
    assert rows(FRAME.group_by().agg(n=argosy.count())) == 1
    assert 1 <= rows(FRAME.group_by("a").agg(n=argosy.count())) <= 1000


def test_slices_and_samples_are_as_long_as_asked() -> None:
    assert rows(FRAME.head(10)) == 10
    assert rows(FRAME.tail(10_000)) == 1000
    assert rows(FRAME.slice(-5)) == 5
    assert rows(FRAME.sample(fraction=0.25)) == 250
    assert rows(FRAME.sample(n=3)) == 3


def test_asking_again_costs_nothing() -> None:
    plan = FRAME.filter(col("a") > 1).plan
    assert estimate(plan) is estimate(plan)


@given(frames())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_rows_that_are_known_are_the_rows_that_come_out(drawn: Drawn) -> None:
    plan = drawn.frame.plan
    known = known_rows(plan)
    assert estimate(plan).num_rows >= 0
    assert set(estimate(plan).widths) == set(plan.schema.names)
    if known is None:
        return
    try:
        assert reference.run(plan).num_rows == known
    except FrameError:
        return
