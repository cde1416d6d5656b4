"""Plans that say the same, and slices that become one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import argosy
from argosy import col
from argosy.frame.dataframe import DataFrame
from argosy.frame.plan import Operation, Slice
from argosy.frame.rewrite import rewrite
from argosy.frame.rewrite.push_slices import push_slices
from argosy.frame.rewrite.tree import bottom_up, same_plan

FRAME = argosy.from_pydict({"k": [1, 2, 1], "a": [3, 2, 1]})


def anew(operation: Operation) -> Operation:
    """The same plan of other objects."""
    return operation.with_inputs(*map(anew, operation.inputs)) if operation.inputs else operation


def like(frame: DataFrame) -> DataFrame:
    return frame.filter(col("a") > 1).sort("k", descending=True).join(FRAME, on="k").slice(1, 2)


def test_a_plan_says_the_same_as_one_made_of_the_same_steps() -> None:
    plan = like(FRAME).plan
    assert same_plan(plan, like(FRAME).plan)
    assert same_plan(plan, anew(plan))
    assert anew(plan) is not plan


@pytest.mark.parametrize(
    "other",
    [
        FRAME.filter(col("a") > 2).sort("k", descending=True).join(FRAME, on="k").slice(1, 2),
        FRAME.filter(col("a") > 1).sort("k").join(FRAME, on="k").slice(1, 2),
        FRAME.filter(col("a") > 1).sort("a", descending=True).join(FRAME, on="k").slice(1, 2),
        FRAME.filter(col("a") > 1).sort("k", descending=True).join(FRAME, on="k", how="left").slice(1, 2),
        FRAME.filter(col("a") > 1).sort("k", descending=True).join(FRAME, on="k").slice(1, 3),
        FRAME.filter(col("a") > 1).sort("k", descending=True).join(FRAME, on="k"),
        FRAME.filter(col("a") > 1).sort("k", "a", descending=True).join(FRAME, on="k").slice(1, 2),
        like(argosy.from_pydict({"k": [1, 2, 1], "a": [3, 2, 1]})),
    ],
)
def test_a_plan_with_another_step_or_another_table_says_something_else(other: DataFrame) -> None:
    plan = like(FRAME).plan
    assert not same_plan(plan, other.plan)
    assert not same_plan(other.plan, plan)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True), ("a", "a", True), (1, 2, False), ("a", "b", False), (None, None, True), (None, 1, False),
        ((1, 2), (1, 2), True), ((1, 2), (1, 2, 3), False), ((1,), 1, False), ([1], [1], False), (object(), 1, False),
    ],
)  # fmt: skip
def test_values_in_a_plan_say_the_same_where_they_are_equal_and_plain(one: Any, other: Any, same: bool) -> None:
    assert same_plan(one, other) is same


def test_a_part_that_is_used_twice_stays_one_object() -> None:
    part = FRAME.sort("a")
    plan = part.join(part, on="k").plan
    new = bottom_up(plan, lambda one: replace(one, descending=(True,)) if one is part.plan else one)
    left, right = new.inputs
    assert left is right
    assert left is not part.plan


@pytest.mark.parametrize(
    ("frame", "offset", "length"),
    [
        (FRAME.slice(1, 2).slice(0, 5), 1, 2),
        (FRAME.slice(1, 5).slice(1, 2), 2, 2),
        (FRAME.slice(1).slice(1), 2, None),
        (FRAME.slice(0, 2).slice(3), 3, 0),
        (FRAME.slice(2).with_columns(z=col("a") * 2).head(1), 2, 1),
    ],
)
def test_two_cuts_become_one(frame: DataFrame, offset: int, length: int | None) -> None:
    (cut,) = [one for one in push_slices(frame.plan).walk() if isinstance(one, Slice)]
    assert (cut.offset, cut.length) == (offset, length)


def test_a_cut_from_the_end_stays_apart() -> None:
    for frame in (FRAME.tail(2).head(1), FRAME.head(2).tail(1)):
        assert [one.offset for one in rewrite(frame.plan).walk() if isinstance(one, Slice)] == [
            one.offset for one in frame.plan.walk() if isinstance(one, Slice)
        ]
