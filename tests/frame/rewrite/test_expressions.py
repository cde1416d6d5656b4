"""Which expressions may be moved, doubled and computed on rows that they would not have seen."""

from __future__ import annotations

import operator
from collections import Counter
from functools import reduce

import pyarrow as pa
import pytest

import argosy
from argosy import col, lit, when
from argosy.frame.expressions.nodes import Expr, Literal
from argosy.frame.plan import Memory, Project
from argosy.frame.rewrite.expressions import (
    bare,
    cannot_fail,
    column_name,
    inlined,
    may_be_inlined,
    same_for_equal_keys,
    size,
    uses,
)
from argosy.frame.rewrite.push_filters import _LARGEST, push_filters

TYPES = {
    "i8": pa.int8(), "i": pa.int64(), "u8": pa.uint8(), "u": pa.uint64(), "f4": pa.float32(), "f": pa.float64(),
    "s": pa.string(), "long": pa.large_string(), "ok": pa.bool_(), "t": pa.timestamp("us"),
    "m": pa.decimal128(9, 2), "l": pa.list_(pa.int64()),
}  # fmt: skip
SCHEMA = pa.schema(list(TYPES.items()))
N, X, S, T, OK = col("i"), col("f"), col("s"), col("t"), col("ok")

NEVER_FAIL = [
    *(op(N, 1) for op in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)),
    *(N.between(1, 2), N.is_null(), N.is_not_null(), X.is_nan(), N.is_in([1, 2]), OK & OK, OK | OK, OK ^ OK, ~OK),
    *(S.str.upper(), S.str.lower(), S.str.strip(), S.str.len_chars(), S.str.contains("a"), S.str.slice(0, 1)),
    *(S.str.starts_with("a"), S.str.ends_with("a")),
    *(T.dt.year(), T.dt.month(), T.dt.day(), T.dt.hour(), T.dt.minute(), T.dt.second(), T.dt.weekday()),
    *(T.dt.ordinal_day(), N, lit(1), lit("x"), N.alias("j"), (N > 1).alias("j")),
    *(X + X, X - X, X * X, X / X, -X, X.abs(), X + 1, X * 2**53, X + -(2**53), X + col("f4")),
    *(col("i8") < N, col("u8") < N, col("long") == S, X < N, col("u") > X, col("m") == col("m")),
    *(col("i8").cast("int64"), N.cast("int64"), col("u8").cast("uint64"), col("f4").cast("float64")),
    X.cast("float64"),
]
MAY_FAIL = [
    *(N + N, N - 1, N * 2, -N, N.abs(), N // 2, N % 2, X // X, X % X, X**2, N / 2, X + N, X * (2**53 + 1)),
    *(col("u") > N, col("m") < N, col("m") == X),
    *(N.cast("int8"), X.cast("float32"), X.cast("int64"), N.cast("float64"), S.cast("int64"), col("u8").cast("int64")),
    *(col("i8").cast("uint64"), S.str.to_integer(), S.str.to_date(), (N + 1) > 2, (N + 1).alias("j"), OK & (N * 2 > 1)),
    when(OK).then(N).otherwise(0),
]


@pytest.mark.parametrize("expr", NEVER_FAIL, ids=repr)
def test_what_has_a_value_for_every_row(expr: Expr) -> None:
    assert cannot_fail(expr, SCHEMA) is True


@pytest.mark.parametrize("expr", MAY_FAIL, ids=repr)
def test_what_may_fail_on_a_row_that_was_not_asked_for(expr: Expr) -> None:
    assert cannot_fail(expr, SCHEMA) is False


@pytest.mark.parametrize(
    "expr", [N, S, N + N, N > 1, X > 1, X.is_nan(), X.is_in([0.0]), (X > 1).alias("z"), lit(1.5)], ids=repr
)
def test_what_is_the_same_for_rows_with_equal_keys(expr: Expr) -> None:
    assert same_for_equal_keys(expr, SCHEMA)


@pytest.mark.parametrize(
    "expr", [col("l"), X + 1, 1 / X > 0, (X * 1).alias("z"), col("l").is_null() & (X + 1 > 0)], ids=repr
)
def test_what_tells_equal_keys_apart(expr: Expr) -> None:
    assert not same_for_equal_keys(expr, SCHEMA)


def test_the_size_of_an_expression_is_the_number_of_its_parts() -> None:
    assert [size(expr) for expr in (N, N + 1, -(N + 1), (N + N).alias("z"))] == [1, 3, 4, 4]


def test_every_use_of_a_column_is_counted() -> None:
    assert uses([N + N * X, lit(1), X.alias("i")]) == Counter({"i": 2, "f": 2})


def test_the_names_that_an_expression_was_given_are_taken_off() -> None:
    named = N.alias("a").alias("b")
    assert bare(named).same_as(N)
    assert column_name(named) == "i"
    assert column_name((N + 1).alias("a")) is None


def test_a_definition_takes_the_place_of_its_column_and_a_number_keeps_its_type() -> None:
    small = Literal(scalar=pa.scalar(3, pa.int8()))
    found = inlined((col("a") + col("b")).alias("z"), {"a": (N * 2).alias("a"), "b": small})
    assert found.same_as(N * 2 + small)
    (_, number) = found.inputs
    assert isinstance(number, Literal)
    assert number.scalar.type == pa.int8()


def test_a_constant_that_may_fail_stays_where_there_are_rows() -> None:
    columns = {"c": lit("x"), "a": N}
    assert may_be_inlined(col("c"), columns, SCHEMA)
    assert may_be_inlined(col("c") == "y", columns, SCHEMA)
    assert may_be_inlined(col("a").cast("int8"), columns, SCHEMA)
    assert not may_be_inlined(col("c").cast("int64") > 1, columns, SCHEMA)


def test_a_condition_on_a_constant_that_may_fail_stays_above_its_projection() -> None:
    frame = argosy.from_pydict({"a": [1, 2]}).with_columns(c=lit("x")).filter(col("c").cast("int64") > 1)
    assert push_filters(frame.plan) is frame.plan


def test_a_condition_of_too_many_parts_is_not_computed_anew_below_a_projection() -> None:
    def plan_of(parts: int) -> Project:
        long = reduce(operator.add, [lit(1.0)] * ((parts - 3) // 2), col("a") if parts % 2 else -col("a"))
        frame = argosy.from_pydict({"a": [1.0, 2.0]}).with_columns(z=long).filter(col("z") > 0)
        assert size(long) + 2 == parts
        return push_filters(frame.plan)  # type: ignore[return-value]

    assert isinstance(plan_of(_LARGEST), Project)
    assert not isinstance(plan_of(_LARGEST).input, Memory)
    assert isinstance(plan_of(_LARGEST + 1).input, Project)
