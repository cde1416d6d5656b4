"""In a chain of inner joins the smallest results come first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from frame import reference
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import argosy
from argosy import col
from argosy.frame.dataframe import DataFrame
from argosy.frame.estimate import estimate
from argosy.frame.plan import Join, Memory, Operation
from argosy.frame.rewrite import rewrite
from argosy.frame.rewrite.order_joins import order_joins

SALES = argosy.from_pydict({"item": [i % 20 for i in range(60)], "shop": [i % 6 for i in range(60)], "n": range(60)})
ITEMS = argosy.from_pydict({"item": range(20), "name": [f"item {i}" for i in range(20)]})
SHOPS = argosy.from_pydict({"shop": range(6), "town": [f"town {i}" for i in range(6)], "n": range(6)})


def first_joined(plan: Operation) -> set[int]:
    """Rows of the two tables that are joined before all others."""
    first = next(one for one in plan.walk() if isinstance(one, Join))
    return {one.table.num_rows for one in first.walk() if isinstance(one, Memory)}


def test_the_table_that_a_filter_makes_small_is_joined_first() -> None:
    frame = SALES.join(ITEMS, on="item").join(SHOPS.filter(col("town") == "town 1"), on="shop")
    plan = rewrite(frame.plan)
    assert first_joined(frame.plan) == {60, 20}
    assert first_joined(plan) == {60, 6}
    assert plan.schema == frame.schema
    assert reference.same_rows(reference.run(plan), reference.run(frame.plan))


def test_a_key_may_have_the_empty_name() -> None:
    sales, items = SALES.rename({"item": ""}), ITEMS.rename({"item": ""})
    frame = sales.join(items, on="").join(SHOPS.filter(col("town") == "town 1"), on="shop")
    plan = rewrite(frame.plan)
    assert first_joined(plan) == {60, 6}
    assert reference.same_rows(reference.run(plan), reference.run(frame.plan))


def test_an_order_that_is_good_already_stays() -> None:
    frame = SALES.join(SHOPS.filter(col("town") == "town 1"), on="shop").join(ITEMS, on="item")
    assert order_joins(frame.plan) is frame.plan


def test_an_algorithm_that_was_asked_for_keeps_its_place() -> None:
    small = SHOPS.filter(col("town") == "town 1")
    frame = SALES.join(ITEMS, on="item", algorithm="sort").join(small, on="shop")
    assert order_joins(frame.plan) is frame.plan


def test_outer_joins_keep_their_place() -> None:
    frame = SALES.join(ITEMS, on="item", how="left").join(SHOPS.filter(col("town") == "town 1"), on="shop")
    joins = [one.how for one in rewrite(frame.plan).walk() if isinstance(one, Join)]
    assert joins == ["left", "inner"]


def test_a_projection_that_gives_other_names_does_not_part_the_chain_and_one_that_computes_does() -> None:
    small = SHOPS.filter(col("town") == "town 1")
    renamed = SALES.join(ITEMS, on="item").rename({"shop": "at"}).join(small, left_on="at", right_on="shop")
    assert first_joined(order_joins(renamed.plan)) == {60, 6}
    computed = SALES.join(ITEMS, on="item").with_columns(n=col("n") * 2).join(small, on="shop")
    assert order_joins(computed.plan) is computed.plan


def test_the_larger_side_of_each_join_is_the_left() -> None:
    plan = order_joins(SALES.join(ITEMS, on="item").join(SHOPS.filter(col("town") == "town 1"), on="shop").plan)
    joins = [one for one in plan.walk() if isinstance(one, Join)]
    assert len(joins) == 2
    assert all(estimate(one.left).nbytes >= estimate(one.right).nbytes for one in joins)


def test_columns_of_one_name_and_those_named_like_what_keeps_them_apart_keep_their_values() -> None:
    sales = SALES.with_columns(**{"2.n": col("n") + 100, "0.n": col("n") + 200, "2.n.": col("n") + 300})
    frame = sales.join(ITEMS, on="item").join(SHOPS.filter(col("town") == "town 1"), on="shop")
    new = order_joins(frame.plan)
    assert new is not frame.plan
    assert reference.same_rows(reference.run(new), reference.run(frame.plan))


@st.composite
def chains(draw: Callable[[st.SearchStrategy[Any]], Any]) -> DataFrame:
    """Three to five tables of very different size, each joined to columns that are there by then."""

    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))

    def table(index: int) -> DataFrame:
        num_rows = draw(st.sampled_from([1, 2, 4, 9]))
        names = ["k", f"c{index}", "v"]
        columns = {name: pa.array(rng.integers(0, 2, num_rows), mask=rng.random(num_rows) < 0.1) for name in names}
        frame = argosy.from_pydict(columns)
        return frame.filter(col(f"c{index}") == 1) if draw(st.booleans()) else frame

    frame = table(0)
    for index in range(1, draw(st.integers(3, 5))):
        ours = draw(st.sampled_from([name for name in frame.columns if name[0] in "kc"]))
        if draw(st.integers(0, 3)) == 0:
            frame = frame.rename({ours: f"{ours}_{index}"})
            ours = f"{ours}_{index}"
        frame = frame.join(table(index), left_on=ours, right_on=draw(st.sampled_from(["k", f"c{index}"])))
    return frame


@given(chains())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_order_gives_the_same_rows(frame: DataFrame) -> None:
    new = order_joins(frame.plan)
    assert new.schema.names == frame.columns
    assert reference.same_rows(reference.run(new), reference.run(frame.plan))
