"""A sort is stable and in the order of the reference, over all ranks."""

from __future__ import annotations

from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from frame.operators.columns import KEYS, columns, kinds, tables
from frame.operators.laws import NUM_RANKS, TINY, check, law
from hypothesis import given
from hypothesis import strategies as st

from argosy.frame.plan import Memory, Slice, Sort


@st.composite
def sorts(draw: Any, max_rows: int = 16) -> Sort:
    """The column `row` shows whether rows with equal keys keep their order."""
    types = draw(st.lists(kinds(), min_size=1, max_size=3))
    by = [f"k{index}" for index in range(len(types))]
    table = draw(tables(dict(zip(by, types, strict=True)), max_rows))
    descending = draw(st.lists(st.booleans(), min_size=len(by), max_size=len(by)))
    return Sort(input=Memory(table=table), by=tuple(by), descending=tuple(descending), nulls_first=draw(st.booleans()))


@law(50)
@given(plan=sorts(), num_ranks=NUM_RANKS)
def test_a_sort_equals_the_reference_row_by_row(plan: Sort, num_ranks: int) -> None:
    check(plan, num_ranks, in_order=True)


@law(15)
@given(plan=sorts(max_rows=50), num_ranks=NUM_RANKS)
def test_a_sort_through_the_disk_equals_the_reference_row_by_row(plan: Sort, num_ranks: int) -> None:
    check(plan, num_ranks, in_order=True, share_nbytes=TINY)


@law(20)
@given(plan=sorts(), offset=st.integers(0, 20), length=st.integers(0, 20), num_ranks=NUM_RANKS)
def test_the_first_rows_of_a_sort_are_those_of_the_reference(
    plan: Sort, offset: int, length: int, num_ranks: int
) -> None:
    check(Slice(input=plan, offset=offset, length=length), num_ranks, in_order=True)


@pytest.mark.parametrize("kind", list(KEYS), ids=str)
def test_every_type_of_key_has_its_order(kind: pa.DataType) -> None:
    values = [None, *KEYS[kind], None, *reversed(KEYS[kind])]
    table = pa.table({"k": pa.array(values, kind), "row": range(len(values))})
    for descending, nulls_first in product([False, True], repeat=2):
        plan = Sort(input=Memory(table=table), by=("k",), descending=(descending,), nulls_first=nulls_first)
        check(plan, 3, in_order=True)
        check(plan, 3, in_order=True, share_nbytes=1_000)


@law(15)
@given(data=st.data(), num_ranks=NUM_RANKS)
def test_keys_that_are_all_equal_keep_the_order_of_the_rows(data: st.DataObject, num_ranks: int) -> None:
    kind = data.draw(kinds())
    num_rows = data.draw(st.integers(0, 40))
    value = data.draw(st.sampled_from(KEYS[kind]))
    table = pa.table({"k": pa.array([value] * num_rows, kind), "row": pa.array(range(num_rows), pa.int64())})
    plan = Sort(input=Memory(table=table), by=("k",), descending=(data.draw(st.booleans()),))
    result = check(plan, num_ranks, in_order=True, share_nbytes=data.draw(st.sampled_from([TINY // 4, 1 << 30])))
    assert result.column("row").to_pylist() == list(range(num_rows))


@law(10)
@given(data=st.data(), num_ranks=NUM_RANKS)
def test_a_column_may_be_named_twice_and_be_all_there_is(data: st.DataObject, num_ranks: int) -> None:
    table = pa.table({"k": data.draw(columns(data.draw(kinds()), data.draw(st.integers(0, 9))))})
    plan = Sort(input=Memory(table=table), by=("k", "k"), descending=(False, True))
    check(plan, num_ranks, in_order=True, share_nbytes=data.draw(st.sampled_from([64, 1 << 30])))
