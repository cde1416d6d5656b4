"""Equal keys have equal codes and hashes, others have not, and codes are in the order of the values."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from frame import reference
from frame.operators.columns import KEYS, columns, kinds
from frame.operators.laws import law
from hypothesis import given
from hypothesis import strategies as st

from argosy.comm.ranks import Alone
from argosy.errors import TypeMismatch
from argosy.frame.keys import Keys, equal_keys, hashes, key_column, key_type
from argosy.frame.plan import Memory, Sort
from argosy.frame.sort_keys import SortOrder


@st.composite
def key_tables(draw: Any, max_rows: int = 10) -> pa.Table:
    types = draw(st.lists(kinds(), min_size=1, max_size=3))
    num_rows = draw(st.integers(1, max_rows))
    return pa.table({f"k{i}": draw(columns(kind, num_rows)) for i, kind in enumerate(types)})


def identity(keys: Keys, row: int) -> Any:
    """What decides whether two rows are equal."""
    if keys.exact:
        return int(keys.codes[row])
    return int(keys.codes[row]), bytes(keys.data[keys.offsets[row] : keys.offsets[row + 1]])


@law(60)
@given(table=key_tables())
def test_rows_are_equal_when_their_keys_are(table: pa.Table) -> None:
    flat = [key_column(column) for column in table.columns]
    keys = equal_keys([flat], null_is_a_key=True)[0]
    codes = hashes(flat)
    rows = reference.rows_of(table)
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            assert (identity(keys, i) == identity(keys, j)) == (one == other)
            assert one != other or codes[i] == codes[j]


@law(40)
@given(data=st.data(), table=key_tables())
def test_a_hash_depends_on_the_values_of_a_row_alone(data: st.DataObject, table: pa.Table) -> None:
    """Else equal keys would go to different ranks."""
    codes = hashes([key_column(column) for column in table.columns])
    row = data.draw(st.integers(0, table.num_rows - 1))
    alone = hashes([key_column(column) for column in table.slice(row, 1).columns])
    assert alone[0] == codes[row]


@law(40)
@given(data=st.data(), table=key_tables())
def test_keys_of_two_sides_are_compared_across_them(data: st.DataObject, table: pa.Table) -> None:
    """How the keys of one side look may depend on those of the other."""
    cut = data.draw(st.integers(0, table.num_rows))
    sides = [table.slice(0, cut), table.slice(cut)]
    left, right = equal_keys([[key_column(column) for column in side.columns] for side in sides], null_is_a_key=True)
    for i, one in enumerate(reference.rows_of(sides[0])):
        for j, other in enumerate(reference.rows_of(sides[1])):
            assert (identity(left, i) == identity(right, j)) == (one == other)


@law(60)
@given(data=st.data(), table=key_tables(), nulls_first=st.booleans())
def test_codes_are_in_the_order_of_the_rows(data: st.DataObject, table: pa.Table, nulls_first: bool) -> None:
    """As far as they go: rows of equal code may differ where the codes are not exact."""
    descending = tuple(data.draw(st.booleans()) for _ in table.columns)
    flat = [key_column(column) for column in table.columns]
    codes = SortOrder(flat, descending, nulls_first, Alone()).codes(flat)
    numbered = table.append_column("row", pa.array(range(table.num_rows)))
    plan = Sort(
        input=Memory(table=numbered), by=tuple(table.column_names), descending=descending, nulls_first=nulls_first
    )
    ordered = [int(codes.values[row] ^ codes.flip) for row in reference.run(plan).column("row").to_pylist()]
    assert ordered == sorted(ordered)
    if codes.exact:
        keys = reference.rows_of(table)
        assert len(set(ordered)) == len(set(keys))


@pytest.mark.parametrize("kind", list(KEYS), ids=str)
def test_a_column_of_no_rows_can_be_a_key(kind: pa.DataType) -> None:
    flat = key_column(pa.chunked_array([], kind))
    assert len(hashes([flat])) == 0
    assert len(equal_keys([[flat, flat]], null_is_a_key=True)[0].codes) == 0


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.struct([("x", pa.int64())])], ids=str)
def test_nested_columns_are_refused_as_keys(kind: pa.DataType) -> None:
    with pytest.raises(TypeMismatch, match="cannot be a key"):
        key_type(kind)
