"""A join is what the reference says, whatever the keys, the kind of join, the algorithm and the number of ranks."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from frame.operators.columns import KEYS, columns, kinds, tables
from frame.operators.laws import NUM_RANKS, TINY, check, law
from hypothesis import given
from hypothesis import strategies as st

from argosy.frame.plan import Join, Memory

HOWS: list[Any] = ["inner", "left", "right", "full", "semi", "anti"]
ALGORITHMS = st.sampled_from(["auto", "hash", "sort", "broadcast"])


@st.composite
def joins(draw: Any, how: Any, max_rows: int = 12) -> Join:
    types = draw(st.lists(kinds(), min_size=1, max_size=3))
    left_on = [f"k{index}" for index in range(len(types))]
    right_on = draw(st.sampled_from([left_on, [f"j{index}" for index in range(len(types))]]))
    left = draw(tables(dict(zip(left_on, types, strict=True)), max_rows))
    right = draw(tables(dict(zip(right_on, types, strict=True)), max_rows))
    return Join(
        left=Memory(table=left),
        right=Memory(table=right),
        left_on=tuple(left_on),
        right_on=tuple(right_on),
        how=how,
        suffix=draw(st.sampled_from(["_right", "2"])),
        algorithm=draw(ALGORITHMS),
    )


@pytest.mark.parametrize("how", HOWS)
@law(12)
@given(data=st.data(), num_ranks=NUM_RANKS)
def test_a_join_equals_the_reference(how: Any, data: st.DataObject, num_ranks: int) -> None:
    check(data.draw(joins(how)), num_ranks)


@pytest.mark.parametrize("how", HOWS)
@law(5)
@given(data=st.data(), num_ranks=NUM_RANKS)
def test_a_join_through_the_disk_equals_the_reference(how: Any, data: st.DataObject, num_ranks: int) -> None:
    check(data.draw(joins(how, max_rows=40)), num_ranks, share_nbytes=TINY)


@law(15)
@given(data=st.data(), num_ranks=NUM_RANKS, share_nbytes=st.sampled_from([TINY, 1 << 30]))
def test_a_cross_join_pairs_every_row_with_every_row(data: st.DataObject, num_ranks: int, share_nbytes: int) -> None:
    left, right = data.draw(tables({"k": pa.int64()}, 6)), data.draw(tables({"k": pa.string()}, 6))
    plan = Join(left=Memory(table=left), right=Memory(table=right), left_on=(), right_on=(), how="cross")
    check(plan, num_ranks, share_nbytes=share_nbytes)


@pytest.mark.parametrize("kind", list(KEYS), ids=str)
def test_every_type_of_key_is_matched(kind: pa.DataType) -> None:
    values = [*KEYS[kind], None, *KEYS[kind][:2]]
    left = Memory(table=pa.table({"k": pa.array(values, kind), "row": range(len(values))}))
    right = Memory(table=pa.table({"k": pa.array(values[1:], kind), "row": range(len(values) - 1)}))
    for how in HOWS:
        plan = Join(left=left, right=right, left_on=("k",), right_on=("k",), how=how, algorithm="hash")
        check(plan, 3)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5])
def test_keys_that_are_all_null_match_nothing(num_ranks: int, how: Any) -> None:
    side = Memory(table=pa.table({"k": pa.nulls(7, pa.string()), "v": range(7)}))
    check(Join(left=side, right=side, left_on=("k",), right_on=("k",), how=how), num_ranks)


@law(15)
@given(data=st.data(), num_ranks=NUM_RANKS, how=st.sampled_from(HOWS), algorithm=ALGORITHMS)
def test_a_table_of_its_keys_alone_can_be_joined(data: st.DataObject, num_ranks: int, how: Any, algorithm: Any) -> None:
    kind = data.draw(kinds())
    left = pa.table({"k": data.draw(columns(kind, data.draw(st.integers(0, 6))))})
    right = pa.table({"k": data.draw(columns(kind, data.draw(st.integers(0, 6))))})
    plan = Join(
        left=Memory(table=left),
        right=Memory(table=right),
        left_on=("k",),
        right_on=("k",),
        how=how,
        algorithm=algorithm,
    )
    check(plan, num_ranks)
