"""Sorts whose order nobody can see are left out, and no others."""

from __future__ import annotations

import pytest

import argosy
from argosy import col
from argosy.frame.dataframe import DataFrame
from argosy.frame.plan import Sort
from argosy.frame.rewrite import rewrite

FRAME = argosy.from_pydict({"k": [1, 2, 1], "a": [3, 2, 1]})


def num_sorts(frame: DataFrame) -> int:
    return sum(isinstance(one, Sort) for one in rewrite(frame.plan).walk())


@pytest.mark.parametrize(
    "frame",
    [
        FRAME.sort("a").join(FRAME.sort("k"), on="k"),
        FRAME.sort("a").unique(),
        FRAME.sort("a").union(FRAME.sort("a")),
        FRAME.sort("a").group_by("k").agg(total=col("a").sum()),
        FRAME.sort("a").filter(col("a") > 1).group_by("k").agg(total=col("a").max()),
    ],
)
def test_a_sort_is_dropped_where_its_order_is_lost(frame: DataFrame) -> None:
    assert num_sorts(frame) == 0


@pytest.mark.parametrize(
    "frame",
    [
        FRAME.sort("a"),
        FRAME.sort("a").head(2).join(FRAME, on="k"),
        FRAME.sort("a").unique("k"),
        FRAME.sort("a").group_by("k").agg(first=col("a").first()),
        FRAME.sort("a").sample(n=2).unique(),
        FRAME.sort("a").with_columns(z=col("a") + 1),
        FRAME.sort("a").concat(FRAME),
    ],
)
def test_a_sort_stays_where_its_order_shows(frame: DataFrame) -> None:
    assert num_sorts(frame) == 1


def test_a_sort_shows_among_rows_that_are_equal_for_the_next_one() -> None:
    assert num_sorts(FRAME.sort("a").sort("k")) == 2


def test_a_sort_by_keys_of_the_next_one_is_dropped() -> None:
    assert num_sorts(FRAME.sort("k", descending=True).sort("a", "k")) == 1
    assert num_sorts(FRAME.sort("k", descending=True).sort("k")) == 1
