"""Distinct rows and set operations are those of the reference; null equals null and NaN equals NaN."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from frame.operators.columns import KEYS, columns, kinds, tables
from frame.operators.laws import NUM_RANKS, PLENTY, TINY, check, law, parts, together
from hypothesis import given
from hypothesis import strategies as st

from argosy.frame.plan import Distinct, Memory, Project, SetOperation

SHARES = st.sampled_from([TINY, PLENTY])


@st.composite
def key_tables(draw: Any, names: list[str], types: list[pa.DataType], max_rows: int = 12) -> pa.Table:
    num_rows = draw(st.integers(0, max_rows))
    arrays = [draw(columns(kind, num_rows)) for kind in types]
    return pa.table(dict(zip(names, arrays, strict=True)))


@law(25)
@given(data=st.data(), num_ranks=NUM_RANKS, share_nbytes=SHARES)
def test_the_first_of_equal_rows_stays(data: st.DataObject, num_ranks: int, share_nbytes: int) -> None:
    """Columns that do not count show which row it was."""
    table = data.draw(tables({"k": data.draw(kinds()), "j": data.draw(kinds())}, 30))
    subset = data.draw(st.sampled_from([("k",), ("j", "k"), ()]))
    check(Distinct(input=Memory(table=table), subset=subset), num_ranks, share_nbytes=share_nbytes)


@law(20)
@given(data=st.data(), num_ranks=NUM_RANKS, share_nbytes=SHARES)
def test_rows_that_are_equal_in_all_columns_are_one(data: st.DataObject, num_ranks: int, share_nbytes: int) -> None:
    types = data.draw(st.lists(kinds(), min_size=1, max_size=2))
    table = data.draw(key_tables(["a", "b"][: len(types)], types, 30))
    check(Distinct(input=Memory(table=table)), num_ranks, share_nbytes=share_nbytes)


@pytest.mark.parametrize("kind", ["union", "intersect", "difference"])
@law(12)
@given(data=st.data(), num_ranks=NUM_RANKS, share_nbytes=SHARES)
def test_a_set_operation_equals_the_reference(
    kind: Any, data: st.DataObject, num_ranks: int, share_nbytes: int
) -> None:
    types = data.draw(st.lists(kinds(), min_size=1, max_size=3))
    names = ["a", "b", "c"][: len(types)]
    left, right = data.draw(key_tables(names, types)), data.draw(key_tables(names, types))
    plan = SetOperation(kind=kind, left=Memory(table=left), right=Memory(table=right))
    check(plan, num_ranks, share_nbytes=share_nbytes)


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("num_rows", [0, 1, 7])
def test_all_rows_of_no_columns_are_one_row(num_ranks: int, num_rows: int) -> None:
    some = Project(input=Memory(table=pa.table({"x": range(num_rows)})), columns=())
    none = Project(input=Memory(table=pa.table({"x": range(0)})), columns=())
    check(Distinct(input=some), num_ranks)
    both = together(parts(SetOperation(kind="union", left=none, right=some), num_ranks))
    assert both.num_rows == min(num_rows, 1)
    for kind in ("intersect", "difference"):
        for left, right in ((some, none), (none, some), (some, some)):
            check(SetOperation(kind=kind, left=left, right=right), num_ranks)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", list(KEYS), ids=str)
def test_every_type_has_distinct_values(kind: pa.DataType) -> None:
    values = [*KEYS[kind], None, *KEYS[kind]]
    table = pa.table({"k": pa.array(values, kind), "row": pa.array(range(len(values)))})
    check(Distinct(input=Memory(table=table), subset=("k",)), 3)
