"""What users write, before anything is computed."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from argosy.errors import TypeMismatch
from argosy.frame.expressions import Expr, col, count, lit, when
from argosy.frame.expressions.nodes import as_expr

A, B = col("a"), col("b")


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        ((A + 1) > 0, '(col("a") + 1) > 0'),
        (1 - A * B, '1 - (col("a") * col("b"))'),
        (-(A + B) ** 2, '-((col("a") + col("b")) ** 2)'),
        (~(A == "x") & B.is_null(), '~(col("a") == "x") & col("b").is_null()'),
        ((A & B).cast("string").alias("c"), """(col("a") & col("b")).cast('string').alias('c')"""),
        (A.str.contains("é").fill_null(False), 'col("a").str.contains("é", True).fill_null(False)'),
        (A.is_in([1, 2]), 'col("a").is_in([1, 2])'),
        (A.is_in(range(100)), 'col("a").is_in([0, 1, 2, 3, 4, 5, 6, 7, ... 100 values])'),
        (A.between(1, B), 'col("a").between(1, col("b"))'),
        (A.clip(0, 1), 'col("a").clip(0).clip(high=1)'),
        (when(A > 0).then("x").when(B).then(1), 'when(col("a") > 0).then("x").when(col("b")).then(1).otherwise(None)'),
        (A.sum() / count(), 'col("a").sum() / count()'),
        (A.quantile(0.5), 'col("a").quantile(0.5)'),
        (lit(1) + lit(2), "lit(1) + lit(2)"),
        (col("a") > datetime.date(2020, 1, 1), 'col("a") > datetime.date(2020, 1, 1)'),
        (col("a") == pa.scalar(1, pa.timestamp("ns")), "col(\"a\") == '1970-01-01 00:00:00.000000001'"),
    ],
)  # fmt: skip
def test_an_expression_reads_as_it_was_written(expr: Expr, text: str) -> None:
    assert repr(expr) == text


def test_an_expression_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match=r"use & \| ~ instead of and or not"):
        bool(A > 0)
    with pytest.raises(TypeError, match="between"):
        _ = 0 < A < 1
    with pytest.raises(TypeError, match="is_in"):
        _ = A in [B, 1]


def test_same_as_looks_at_values_and_their_types() -> None:
    assert (A + 1).same_as(col("a") + 1)
    assert not (A + 1).same_as(A + 1.0)
    assert not (A == 1).same_as(A == True)  # noqa: E712
    assert not lit(0.0).same_as(lit(-0.0))
    assert lit(float("nan")).same_as(lit(float("nan")))
    assert not A.is_in([1]).same_as(A.is_in([2]))
    assert not A.quantile(0.1).same_as(A.quantile(0.2))
    assert not A.same_as("a")
    assert len({one.key for one in (A + 1, A + 1, A + 2)}) == 2


def test_a_value_on_the_left_works_too() -> None:
    assert (np.int64(3) * A).same_as(3 * A)
    assert (np.float64(3) > A).same_as(A < 3.0)
    assert (Decimal(1) - A).same_as(lit(Decimal(1)) - A)
    assert (True & A).same_as(lit(True) & A)


def test_a_string_is_a_value_and_not_the_name_of_a_column() -> None:
    assert as_expr("a").same_as(lit("a"))
    assert as_expr(A) is A


def test_what_cannot_be_a_value_is_refused() -> None:
    with pytest.raises(TypeMismatch, match="a object cannot be a value"):
        lit(object())
    with pytest.raises(TypeMismatch, match=r"does not fit into 64 bits; use decimal\.Decimal"):
        _ = A + 2**64
    with pytest.raises(TypeMismatch, match=r"write is_in\(\['abc'\]\)"):
        A.is_in("abc")
    with pytest.raises(TypeMismatch, match="a column's name is a string"):
        col(1)  # type: ignore[arg-type]
    with pytest.raises(TypeMismatch, match=r"without then"):
        A.fill_null(when(B))
    with pytest.raises(TypeMismatch, match="'int65' does not name a type"):
        A.cast("int65")
    with pytest.raises(ValueError, match="between 0 and 1"):
        A.quantile(2)


def test_types_have_many_names() -> None:
    for name, kind in [(int, pa.int64()), ("str", pa.string()), ("date", pa.date32()), (pa.int8(), pa.int8())]:
        assert A.cast(name).same_as(A.cast(kind))
