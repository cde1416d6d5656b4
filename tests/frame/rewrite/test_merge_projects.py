"""Projections in a row become one; what changes nothing goes."""

from __future__ import annotations

import argosy
from argosy import col, lit
from argosy.frame.plan import Memory, Project, Slice
from argosy.frame.rewrite.merge_projects import merge_projects
from argosy.frame.rewrite.push_slices import push_slices

FRAME = argosy.from_pydict({"a": [1, 2, 3], "b": [4, 5, 6]})


def test_projections_in_a_row_become_one() -> None:
    plan = merge_projects(FRAME.with_columns(z=col("a") + 1).rename({"z": "y"}).select("y", "b").plan)
    assert isinstance(plan, Project)
    assert isinstance(plan.input, Memory)
    assert repr(plan.columns) == repr((("y", col("a") + 1), ("b", col("b"))))


def test_what_is_used_twice_is_computed_once() -> None:
    plan = merge_projects(FRAME.with_columns(z=col("a") * 3).select(x=col("z") + 1, y=col("z") + 2).plan)
    assert [type(one) for one in plan.walk()] == [Memory, Project, Project]


def test_a_projection_that_changes_nothing_goes() -> None:
    plan = FRAME.plan
    assert merge_projects(FRAME.select("a", "b").plan) is plan
    assert merge_projects(FRAME.select("b", "a").select("a", "b").plan) is plan
    assert merge_projects(FRAME.select("b", "a").plan) is not plan


def test_a_number_keeps_the_type_of_its_column() -> None:
    frame = argosy.from_pydict({"small": [1]}).select(small=col("small").cast("int8"), one=lit(1))
    wide = frame.select(total=col("small") + col("one"))
    assert merge_projects(wide.plan).schema == wide.schema


def test_rows_are_cut_before_columns_are_computed() -> None:
    plan = push_slices(FRAME.with_columns(z=col("a") + 1).head(2).plan)
    assert [type(one) for one in plan.walk()] == [Memory, Slice, Project]


def test_two_cuts_become_one() -> None:
    plan = push_slices(FRAME.slice(1).head(5).slice(1, 9).plan)
    assert isinstance(plan, Slice)
    assert (plan.offset, plan.length) == (2, 4)
    assert isinstance(plan.input, Memory)
