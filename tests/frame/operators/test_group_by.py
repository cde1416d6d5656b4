"""Every aggregate is what the reference says, with and without keys, on any number of ranks."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from frame.operators.columns import KEYS, PAYLOADS, columns, kinds, tables
from frame.operators.laws import NUM_RANKS, PLENTY, TINY, check, law, parts, together
from hypothesis import given
from hypothesis import strategies as st

from argosy.frame.aggregates import AVERAGING, DECIDING
from argosy.frame.expressions.nodes import col
from argosy.frame.plan import Agg, Aggregate, Concat, Join, Memory, Operation, Project, SetOperation, Sort

SHARES = st.sampled_from([TINY, PLENTY, PLENTY])
SUMMABLE = {
    kind: pool
    for kind, pool in KEYS.items()
    if pa.types.is_integer(kind)
    or pa.types.is_floating(kind)
    or pa.types.is_boolean(kind)
    or pa.types.is_null(kind)
    or kind == pa.decimal128(20, 2)
    or kind == pa.dictionary(pa.int8(), pa.int64())
}
SPREADING = {
    kind: pool
    for kind, pool in SUMMABLE.items()
    if pa.types.is_floating(kind) or all(value is None or abs(value) < 1 << 32 for value in pool)
}
"""Numbers whose variance is not drowned in rounding."""
BOOLEANS = {kind: KEYS[kind] for kind in (pa.bool_(), pa.null())}


def pool_for(kind: str) -> dict[pa.DataType, Any]:
    """Types that this aggregate takes."""
    if kind in ("var", "std"):
        return SPREADING
    if kind == "sum" or kind in AVERAGING:
        return SUMMABLE
    if kind in DECIDING:
        return BOOLEANS
    return KEYS if kind in ("min", "max", "n_unique") else PAYLOADS


EVERY_KIND = [
    *("sum", "min", "max", "count", "mean", "var", "std", "first", "last"),
    *("n_unique", "median", "quantile", "len", "any", "all"),
]


def parameter_for(kind: str) -> st.SearchStrategy[Any]:
    if kind == "quantile":
        return st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0])
    return st.sampled_from([None, 0, 1, 2]) if kind in ("var", "std") else st.none()


@st.composite
def aggregates(draw: Any, kind: str, max_rows: int = 16) -> Aggregate:
    """One of this kind, and up to two others beside it, which may not be split."""
    wanted = [kind, *draw(st.lists(st.sampled_from(EVERY_KIND), max_size=2))]
    keys = {f"k{index}": draw(kinds()) for index in range(draw(st.integers(0, 2)))}
    values = {f"v{index}": draw(kinds(pool_for(one))) for index, one in enumerate(wanted)}
    table = draw(tables(keys | values, max_rows, num_payloads=0))
    aggs = [
        Agg(
            name=f"r{index}",
            kind=one,
            column=None if one == "len" else f"v{index}",
            parameter=draw(parameter_for(one)),
        )
        for index, one in enumerate(wanted)
    ]
    return Aggregate(input=Memory(table=table), keys=tuple(keys), aggs=tuple(aggs))


@pytest.mark.parametrize("kind", EVERY_KIND)
@law(10)
@given(data=st.data(), num_ranks=NUM_RANKS, share_nbytes=SHARES)
def test_an_aggregate_equals_the_reference(kind: str, data: st.DataObject, num_ranks: int, share_nbytes: int) -> None:
    check(data.draw(aggregates(kind)), num_ranks, share_nbytes=share_nbytes)


@law(25)
@given(data=st.data(), num_ranks=NUM_RANKS, share_nbytes=SHARES)
def test_a_sum_that_leaves_64_bits_becomes_a_decimal(data: st.DataObject, num_ranks: int, share_nbytes: int) -> None:
    kind = data.draw(st.sampled_from([pa.int64(), pa.uint64()]))
    table = data.draw(tables({"k": pa.int8(), "v": kind}, 40, num_payloads=0))
    aggs = (Agg(name="total", kind="sum", column="v"), Agg(name="mean", kind="mean", column="v"))
    keys = data.draw(st.sampled_from([(), ("k",)]))
    check(Aggregate(input=Memory(table=table), keys=keys, aggs=aggs), num_ranks, share_nbytes=share_nbytes)


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5])
def test_one_sum_too_large_widens_them_all_and_they_can_be_sorted(num_ranks: int) -> None:
    table = pa.table({"k": [1, 1, 2, 2, 3] * 20, "v": pa.array([2**64 - 1, 2**64 - 1, 1, 2, None] * 20, pa.uint64())})
    plan = Aggregate(input=Memory(table=table), keys=("k",), aggs=(Agg(name="t", kind="sum", column="v"),))
    for share_nbytes in (TINY // 2, PLENTY):
        ordered = Sort(input=plan, by=("t",), descending=(True,))
        result = check(ordered, num_ranks, in_order=True, share_nbytes=share_nbytes)
        assert result.schema.field("t").type == pa.decimal128(38, 0)
        assert result.column("t").to_pylist() == [Decimal(40 * (2**64 - 1)), Decimal(60), None]


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("share_nbytes", [100, PLENTY])
def test_a_widened_sum_meets_sums_that_are_not(num_ranks: int, share_nbytes: int) -> None:
    """The plan could not know; equal numbers are equal keys all the same."""
    table = pa.table({"g": [1, 1, 2, 2, 3], "v": pa.array([2**63 - 1, 2**63 - 1, 5, 6, 7], pa.int64())})
    sums = Aggregate(input=Memory(table=table), keys=("g",), aggs=(Agg(name="s", kind="sum", column="v"),))
    narrow = Memory(table=pa.table({"s": pa.array([11, 7, 8], pa.int64())}))
    wide = Project(input=sums, columns=(("s", col("s")),))

    def found(plan: Operation) -> list[int]:
        values = together(parts(plan, num_ranks, share_nbytes)).column("s").to_pylist()
        return sorted(int(value) for value in values)

    assert found(Join(left=sums, right=narrow, left_on=("s",), right_on=("s",))) == [7, 11]
    assert found(Join(left=narrow, right=sums, left_on=("s",), right_on=("s",), how="full")) == [7, 8, 11, 2**64 - 2]
    assert found(SetOperation(kind="intersect", left=narrow, right=wide)) == [7, 11]
    assert found(SetOperation(kind="union", left=narrow, right=wide)) == [7, 8, 11, 2**64 - 2]
    assert found(Concat(first=narrow, second=wide)) == [7, 7, 8, 11, 11, 2**64 - 2]


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("keys", [(), ("k",)])
def test_the_variance_of_one_row_is_null(num_ranks: int, keys: tuple[str, ...]) -> None:
    table = pa.table({"k": ["a"], "v": [3.0]})
    aggs = (Agg(name="var", kind="var", column="v"), Agg(name="std", kind="std", column="v"))
    result = check(Aggregate(input=Memory(table=table), keys=keys, aggs=aggs), num_ranks)
    assert result.column("var").to_pylist() == [None]


@law(15)
@given(data=st.data(), num_ranks=NUM_RANKS)
def test_rows_that_repeat_much_are_folded_before_they_travel(data: st.DataObject, num_ranks: int) -> None:
    """Folding first is only tried where it leaves less than half of the rows: here every rank has many of each key."""
    values = data.draw(columns(data.draw(kinds(SPREADING)), 12))
    keys = data.draw(st.lists(st.sampled_from(["x", "y", None]), min_size=12, max_size=12))
    once = pa.table({"k": pa.array(keys, pa.string()), "v": values})
    table = pa.concat_tables([once] * 5)
    wanted = ("sum", "min", "max", "count", "mean", "var", "first", "last", "len")
    aggs = tuple(Agg(name=kind, kind=kind, column=None if kind == "len" else "v") for kind in wanted)
    check(Aggregate(input=Memory(table=table), keys=("k",), aggs=aggs), num_ranks)


@law(10)
@given(data=st.data(), num_ranks=NUM_RANKS, share_nbytes=SHARES)
def test_keys_without_aggregates_are_the_distinct_keys(data: st.DataObject, num_ranks: int, share_nbytes: int) -> None:
    table = data.draw(tables({"k": data.draw(kinds()), "j": data.draw(kinds())}, num_payloads=0))
    check(Aggregate(input=Memory(table=table), keys=("k", "j"), aggs=()), num_ranks, share_nbytes=share_nbytes)
