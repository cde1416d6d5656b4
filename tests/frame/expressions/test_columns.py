"""Expressions taken apart and put together."""

from __future__ import annotations

import pytest
from frame.expressions.tables import ANY_EXPRESSION
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import FrameError
from argosy.frame.expressions import Expr, col, count, lit, when
from argosy.frame.expressions.columns import (
    columns_of,
    conjunction,
    conjuncts,
    has_aggregate,
    name_of,
    substitute,
)

A, B, C = col("a"), col("b"), col("c")


def test_columns_are_found_wherever_they_stand() -> None:
    assert columns_of(when(A > 0).then(B.str.upper()).otherwise(C.alias("x"))) == {"a", "b", "c"}
    assert columns_of(A.sum() / count()) == {"a"}
    assert columns_of(lit(1)) == frozenset()


def test_substitution_replaces_all_at_once() -> None:
    assert substitute(A + B, {"a": B, "b": A}).same_as(B + A)
    assert substitute(A.sum() + count(), {"a": B * 2}).same_as((B * 2).sum() + count())
    assert substitute(when(A).then(B).otherwise(C), {"c": lit(1)}).same_as(when(A).then(B).otherwise(1))


@given(expr=ANY_EXPRESSION)
@settings(max_examples=50)
def test_substituting_nothing_changes_nothing(expr: Expr) -> None:
    assert substitute(expr, {}).same_as(expr)
    assert columns_of(substitute(expr, {name: lit(1) for name in columns_of(expr)})) == frozenset()


@given(parts=st.lists(st.sampled_from([A > 0, B == "x", A | C, ~C]), min_size=1, max_size=5))
def test_conditions_split_and_join_again(parts: list[Expr]) -> None:
    again = conjuncts(conjunction(parts))
    assert len(again) == len(parts)
    assert all(one.same_as(other) for one, other in zip(again, parts, strict=True))


def test_no_conditions_are_true() -> None:
    assert conjunction([]).same_as(lit(True))
    assert len(conjuncts((A & (B & C)).alias("all"))) == 3


def test_the_name_is_the_alias_or_the_only_column() -> None:
    assert name_of(A) == "a"
    assert name_of((A + B).alias("c")) == "c"
    assert name_of(A.sum()) == "a"
    for nameless in (A + B, lit(1), count()):
        with pytest.raises(FrameError, match=r"has no name of its own; give it one with .alias"):
            name_of(nameless)


def test_aggregates_are_found_below_other_operations() -> None:
    assert has_aggregate((A.sum() + 1).cast(float).alias("x"))
    assert has_aggregate(count())
    assert not has_aggregate(A + 1)
