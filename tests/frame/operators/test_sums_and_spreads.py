"""Sums, means and variances are those of exact arithmetic, rounded once, or an error; however large the numbers."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from frame.operators.laws import NUM_RANKS, law, parts
from hypothesis import given
from hypothesis import strategies as st

from argosy.errors import FrameError
from argosy.frame.plan import Agg, Aggregate, Memory

OFFSETS = [0, 10**9, -(10**15), 2**53, 2**62]


def aggregate(kind: str, column: pa.Array, num_ranks: int = 1, groups: list[int] | None = None) -> list[Any]:
    """The results in order of their groups."""
    table = pa.table({"g": groups or [0] * len(column), "a": column})
    plan = Aggregate(input=Memory(table=table), keys=("g",), aggs=(Agg(name="r", kind=kind, column="a"),))
    found = pa.concat_tables(parts(plan, num_ranks)).sort_by("g")
    return list(found.column("r").to_pylist())


def exact_variance(values: list[Any]) -> float:
    numbers = [Fraction(value) for value in values]
    mean = sum(numbers) / len(numbers)
    return float(sum((one - mean) ** 2 for one in numbers) / (len(numbers) - 1))


@given(
    offset=st.sampled_from(OFFSETS),
    small=st.lists(st.integers(-(2**20), 2**20), min_size=2, max_size=12),
    kind=st.sampled_from([pa.int64(), pa.uint64(), pa.float64(), pa.decimal128(38, 3), pa.decimal256(40, 3)]),
    num_ranks=NUM_RANKS,
)
@law(60)
def test_a_spread_far_smaller_than_the_values_is_kept(
    offset: int, small: list[int], kind: pa.DataType, num_ranks: int
) -> None:
    if pa.types.is_floating(kind):
        values: list[Any] = [float(offset) + one / 1024 for one in small]
    elif pa.types.is_decimal(kind):
        values = [Decimal(offset) + Decimal(one).scaleb(-3) for one in small]
    else:
        values = [offset + one if kind == pa.int64() else abs(offset) + abs(one) for one in small]
    (found,) = aggregate("var", pa.array(values, kind), num_ranks)
    assert found == pytest.approx(exact_variance(values), rel=1e-9, abs=1e-12)


def test_many_values_far_from_zero_keep_their_spread() -> None:
    values = 1e12 + np.arange(200_000) % 2 / 256
    (found,) = aggregate("std", pa.array(values))
    assert found == pytest.approx(1 / 512, rel=1e-5)


@given(
    values=st.lists(st.integers(-(10**38) + 1, 10**38 - 1) | st.integers(-9, 9), min_size=1, max_size=8),
    num_ranks=NUM_RANKS,
)
@law(40)
def test_a_sum_of_decimals_is_exact_or_an_error_that_names_the_column(values: list[int], num_ranks: int) -> None:
    column = pa.array([Decimal(one) for one in values], pa.decimal128(38, 0))
    if abs(sum(values)) < 10**38:
        assert aggregate("sum", column, num_ranks) == [sum(values)]
    else:
        with pytest.raises(FrameError, match=r"sum of 'a' has more digits than decimal128\(38, 0\).*cast it"):
            aggregate("sum", column, num_ranks)


def test_a_sum_of_long_decimals_is_as_long_as_its_type_allows() -> None:
    long = Decimal("9" * 70)
    assert aggregate("sum", pa.array([long, long], pa.decimal256(76, 0))) == [int(long) * 2]
    most = pa.array([Decimal("9" * 76)] * 6, pa.decimal256(76, 0))
    with pytest.raises(FrameError, match="more digits than decimal256"):
        aggregate("sum", most)


@given(values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8), num_ranks=NUM_RANKS)
@law(30)
def test_a_mean_of_large_integers_does_not_wrap(values: list[int], num_ranks: int) -> None:
    (found,) = aggregate("mean", pa.array(values), num_ranks)
    assert found == pytest.approx(float(Fraction(sum(values), len(values))), rel=1e-15, abs=1e-15)


def test_each_group_has_its_own_offset() -> None:
    values = [10**18, 10**18 + 2, 5, 7, -(10**18), -(10**18) + 2]
    assert aggregate("var", pa.array(values), 2, groups=[0, 0, 1, 1, 2, 2]) == pytest.approx([2.0, 2.0, 2.0])
