"""Arithmetic against Python's own, on one number and another."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from argosy.errors import FrameError, TypeMismatch
from argosy.frame.expressions.evaluate import evaluate
from argosy.frame.expressions.nodes import Expr, col, lit, when

INT64 = st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)
FITS = range(-(2**63), 2**63)


def pair(a: object, b: object) -> pa.Table:
    return pa.table({"a": [a], "b": [b]})


def value_of(expr: Expr, table: pa.Table) -> object:
    return evaluate(expr, table)[0].as_py()


@given(a=INT64, b=INT64)
@example(a=-(2**63), b=-1)
@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod])
def test_whole_numbers_are_as_in_python_or_an_error_that_names_the_expression(
    op: Callable[[object, object], Expr], a: int, b: int
) -> None:
    if b == 0 and op in (operator.floordiv, operator.mod):
        assert value_of(op(col("a"), col("b")), pair(a, b)) is None
        assert value_of(op(col("a"), 0), pair(a, b)) is None
        return
    wanted = op(a, b)
    for expr in (op(col("a"), col("b")), op(col("a"), b), op(a, col("b"))):
        if wanted in FITS:
            assert value_of(expr, pair(a, b)) == wanted
        else:
            with pytest.raises(FrameError, match=r'col\("[ab]"\).*does not fit into int64; cast to a wider type'):
                evaluate(expr, pair(a, b))


@given(a=st.floats(), b=st.floats())
@example(a=1.0, b=0.1)
@example(a=math.inf, b=2.0)
@example(a=3.0, b=-math.inf)
@pytest.mark.parametrize(
    "op", [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod]
)
def test_floats_are_as_in_python_and_never_an_error(op: Callable[[object, object], Expr], a: float, b: float) -> None:
    result = value_of(op(col("a"), col("b")), pair(a, b))
    try:
        wanted = op(a, b)
    except ZeroDivisionError:
        wanted = (
            math.nan
            if op is operator.mod or a == 0 or math.isnan(a)
            else math.copysign(math.inf, a) * math.copysign(1, b)
        )
    assert result == wanted or (math.isnan(result) and math.isnan(wanted))


@given(a=st.floats(-1e300, 1e300) | st.integers(-9, 9), b=st.floats(-1e300, 1e300) | st.integers(-9, 9))
@example(a=1.0, b=0.1)
@example(a=-7, b=2.5)
def test_a_floor_quotient_and_the_remainder_are_those_of_one_division(a: float, b: float) -> None:
    assume(b != 0 and isinstance(a, float) | isinstance(b, float))
    wanted = divmod(a, b)
    assume(all(map(math.isfinite, wanted)))
    assert (value_of(col("a") // col("b"), pair(a, b)), value_of(col("a") % col("b"), pair(a, b))) == wanted


@given(a=INT64, b=INT64)
def test_a_quotient_of_whole_numbers_is_a_float(a: int, b: int) -> None:
    result = value_of(col("a") / col("b"), pair(a, b))
    if b == 0:
        assert math.isnan(result) if a == 0 else result == math.copysign(math.inf, a)
    else:
        assert result == pytest.approx(float(Fraction(a, b)), rel=1e-15)


@given(a=st.integers(-9, 9), exponent=st.integers(0, 70))
def test_a_whole_power_of_a_whole_number_is_one(a: int, exponent: int) -> None:
    if a**exponent in FITS:
        assert value_of(col("a") ** exponent, pair(a, 0)) == a**exponent
    else:
        with pytest.raises(FrameError, match="does not fit into int64"):
            evaluate(col("a") ** exponent, pair(a, 0))


@given(a=st.decimals(-99999, 99999, places=2), b=st.decimals(-99999, 99999, places=3))
@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul])
def test_decimals_are_exact(op: Callable[[object, object], Expr], a: Decimal, b: Decimal) -> None:
    table = pa.table({"a": pa.array([a], pa.decimal128(38, 2)), "b": pa.array([b], pa.decimal128(38, 3))})
    assert value_of(op(col("a"), col("b")), table) == op(a, b)


@given(a=st.floats(-1e9, 1e9), digits=st.integers(-2, 3))
def test_rounding_takes_a_half_to_the_even_neighbour(a: float, digits: int) -> None:
    scaled = a * 10.0**digits
    assume(digits == 0 or abs(abs(scaled - math.floor(scaled)) - 0.5) > 1e-6)  # no binary number is such a half
    assert value_of(col("a").round(digits), pair(a, 0)) == pytest.approx(round(a, digits), abs=1e-6)
    assert value_of(lit(2.5).round(), pair(0, 0)) == 2


@given(a=st.integers(-(2**63), 2**63 - 1), b=st.integers(0, 2**64 - 1))
def test_signed_and_unsigned_numbers_are_compared_by_value(a: int, b: int) -> None:
    table = pa.table({"a": [a], "b": pa.array([b], pa.uint64())})
    assert value_of(col("a") < col("b"), table) == (a < b)
    assert value_of(col("b").is_in([a]), table) == (a == b)


def test_a_plain_number_takes_the_type_of_the_column_where_it_fits() -> None:
    table = pa.table({"a": pa.array([1], pa.int8()), "f": pa.array([1], pa.float32())})
    assert evaluate(col("a") + 1, table).type == pa.int8()
    assert evaluate(col("a") + 1000, table).type == pa.int64()
    assert evaluate(col("f") * 0.1, table).type == pa.float32()
    assert evaluate(col("a") + lit(pa.scalar(1, pa.int32())), table).type == pa.int32()


def test_a_value_that_is_not_chosen_cannot_fail() -> None:
    table = pa.table({"a": [2**62, 3, None], "s": ["x", "7", None]})
    small = when(col("a") < 10).then(col("a") * col("a")).otherwise(-1)
    assert evaluate(small, table).to_pylist() == [-1, 9, -1]
    number = when(col("s").str.contains("^[0-9]+$", literal=False)).then(col("s").str.to_integer())
    assert evaluate(number, table).to_pylist() == [None, 7, None]


def test_clipping_keeps_null_and_nan() -> None:
    table = pa.table({"a": [-5.0, 0.5, 9.0, math.nan, None]})
    clipped = evaluate(col("a").clip(0, 1), table).to_pylist()
    assert clipped[:3] == [0, 0.5, 1]
    assert math.isnan(clipped[3])
    assert clipped[4] is None
    assert evaluate(col("a").clip(high=1), table).to_pylist()[0] == -5


def test_a_cast_cuts_off_fractions_and_refuses_what_does_not_fit() -> None:
    table = pa.table({"a": [1.9, -1.9], "big": [1e30, 0], "s": ["1", "x"], "m": [Decimal("1.99"), Decimal("-1.99")]})
    assert evaluate(col("a").cast(int), table).to_pylist() == [1, -1]
    assert evaluate(col("m").cast(pa.decimal128(3, 1)), table)[0].as_py() == Decimal("1.9")
    for bad in (col("big").cast(int), col("s").cast("int32"), col("m").cast(pa.decimal128(1, 1))):
        with pytest.raises(FrameError, match=r"cast\(.*check the values"):
            evaluate(bad, table)


def test_a_cast_to_a_narrower_float_refuses_what_would_become_infinite() -> None:
    table = pa.table({"a": [1e300, 0.5], "inf": [math.inf, math.nan]})
    assert evaluate(col("inf").cast("float32"), table)[0].as_py() == math.inf
    for bad in (col("a").cast("float32"), col("a").cast("float16")):
        with pytest.raises(FrameError, match="a value is beyond the range of"):
            evaluate(bad, table)
    narrow = pa.table({"f": pa.array([3e38], pa.float32())})
    assert evaluate(col("f") < 1e300, narrow).to_pylist() == [True]


def test_values_to_look_for_may_be_of_several_number_types() -> None:
    table = pa.table({"a": [1, -1, None], "u": pa.array([2**64 - 1, 1, 0], pa.uint64())})
    for column, values in [("a", [1, 0.5]), ("a", [1, 2**64 - 1, None]), ("a", [Decimal(1), 7]), ("u", [-3, 1])]:
        found = evaluate(col(column).is_in(values), table).to_pylist()
        assert [one is True for one in found] == [
            one in values and one is not None for one in table[column].to_pylist()
        ]
    assert evaluate(col("u").is_in([2**64 - 1, -1]), table).to_pylist() == [True, False, False]
    with pytest.raises(TypeMismatch, match="is_in wants values of one type, but got int64, string"):
        col("a").is_in([1, "x"])
