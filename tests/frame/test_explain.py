"""explain() shows the plan as it will run."""

from __future__ import annotations

import pyarrow as pa
from frame.random_frames import Drawn, frames
from hypothesis import HealthCheck, given, settings

import argosy
from argosy import col
from argosy.frame.explain import explain
from argosy.frame.join_algorithm import cheapest_algorithm

LEFT = argosy.from_arrow(pa.table({"k": range(100), "a": range(100)}))
RIGHT = argosy.from_arrow(pa.table({"k": range(3), "b": range(3)}))


def test_one_operation_a_line_with_rows_and_bytes() -> None:
    lines = LEFT.filter(col("a") > 0).sort("a", descending=True).head(3).explain().splitlines()
    assert lines[0].startswith("Slice 3 rows from 0")
    assert lines[1].startswith("└─ Sort by a descending")
    assert lines[2].startswith('   └─ Filter col("a") > 0')
    assert lines[3] == "      └─ Table in memory: k, a  [100 rows, 1.6 KiB]"
    assert "[~35 rows, 560 B, peak " in lines[2]


def test_a_join_says_its_keys_and_its_algorithm() -> None:
    assert "Join inner on k, hash expected" in LEFT.join(RIGHT, on="k").explain()
    assert "Join left on k, sort " in LEFT.join(RIGHT, on="k", how="left", algorithm="sort").explain()
    assert "Join semi on k = b" in LEFT.join(RIGHT, left_on="k", right_on="b", how="semi").explain()
    assert "broadcast expected" in explain(LEFT.join(RIGHT, on="k").plan, num_ranks=4)


def test_a_small_side_is_sent_to_all_ranks_and_a_large_one_is_not() -> None:
    assert cheapest_algorithm("inner", 1e9, 1e3, 8) == "broadcast"
    assert cheapest_algorithm("inner", 1e3, 1e9, 8) == "broadcast"
    assert cheapest_algorithm("inner", 1e9, 1e9, 8) == "hash"
    assert cheapest_algorithm("inner", 1e9, 1e3, 1) == "hash"
    assert cheapest_algorithm("inner", 1e12, 1e9, 8) == "hash"


def test_a_side_whose_rows_may_stand_alone_is_never_sent_to_all_ranks() -> None:
    assert cheapest_algorithm("full", 1e9, 1e3, 8) == "hash"
    assert cheapest_algorithm("left", 1e3, 1e9, 8) == "hash"
    assert cheapest_algorithm("left", 1e9, 1e3, 8) == "broadcast"
    assert cheapest_algorithm("right", 1e9, 1e3, 8) == "hash"


def test_aggregates_are_spelled_out() -> None:
    text = LEFT.group_by("k").agg(total=col("a").sum(), q=col("a").quantile(0.9), n=argosy.count()).explain()
    assert "Aggregate by k: total = sum(a), q = quantile(a, 0.9), n = len()" in text


def test_many_columns_are_not_all_named() -> None:
    wide = argosy.from_pydict({f"c{i}": [i] for i in range(30)})
    assert "c7, and 22 more" in wide.explain()


@given(frames())
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_plan_has_a_line_for_each_operation(drawn: Drawn) -> None:
    plan = drawn.frame.plan
    assert len(explain(plan).splitlines()) == len(list(plan.walk()))
