"""An outer join whose extra rows are filtered out becomes a narrower one."""

from __future__ import annotations

import pytest

import argosy
from argosy import col
from argosy.frame.expressions.nodes import Expr
from argosy.frame.plan import Join
from argosy.frame.rewrite.strengthen_joins import strengthen_joins

LEFT = argosy.from_pydict({"k": [1, 2], "a": [1, 5]})
RIGHT = argosy.from_pydict({"k": [1, 3], "b": [1, 2]})


@pytest.mark.parametrize(
    ("how", "condition", "becomes"),
    [
        ("left", col("b") > 0, "inner"),
        ("left", col("a") > 0, "left"),
        ("left", col("b").is_null(), "left"),
        ("left", (col("b") > 0) | (col("a") > 0), "left"),
        ("right", col("a") > 0, "inner"),
        ("right", col("b") > 0, "right"),
        ("full", col("a") > 0, "left"),
        ("full", col("b") > 0, "right"),
        ("full", (col("a") > 0) & (col("b") > 0), "inner"),
        ("full", col("k") > 0, "full"),
    ],
)
def test_a_condition_that_no_missing_row_meets_narrows_the_join(how: str, condition: Expr, becomes: str) -> None:
    plan = strengthen_joins(LEFT.join(RIGHT, on="k", how=how).filter(condition).plan)  # type: ignore[arg-type]
    (join,) = [one for one in plan.walk() if isinstance(one, Join)]
    assert join.how == becomes
