"""A column that became flat and is gathered from is the column that it was."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from frame.operators.columns import PAYLOADS, columns, kinds
from frame.operators.laws import assert_same, law
from hypothesis import given
from hypothesis import strategies as st

from argosy.frame.flat import Binary, Fixed, Other, flatten, unflatten
from argosy.frame.gather import gather


def same(one: pa.ChunkedArray, other: pa.ChunkedArray) -> None:
    one.validate(full=True)
    assert_same(pa.table({"x": one}), pa.table({"x": other}), in_order=True)


@law(60)
@given(data=st.data(), num_rows=st.integers(0, 20))
def test_a_flat_column_is_the_same_again(data: st.DataObject, num_rows: int) -> None:
    column = data.draw(columns(data.draw(kinds(PAYLOADS)), num_rows))
    same(unflatten(flatten(column)), column)


@law(60)
@given(data=st.data(), num_rows=st.integers(1, 12), word=st.sampled_from([np.int32, np.int64]))
def test_gathered_rows_are_those_asked_for_and_null_where_there_is_none(
    data: st.DataObject, num_rows: int, word: type[np.signedinteger]
) -> None:
    column = data.draw(columns(data.draw(kinds(PAYLOADS)), num_rows))
    lowest = data.draw(st.sampled_from([-1, 0]))
    rows = data.draw(st.lists(st.integers(lowest, num_rows - 1), max_size=12))
    result = gather(flatten(column), np.array(rows, word), some_missing=lowest < 0)
    same(result, column.take(pa.array([None if row < 0 else row for row in rows], pa.int64())))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()], ids=str)
def test_bytes_under_a_null_are_dropped(kind: pa.DataType) -> None:
    """Arrow allows them; a kernel that goes by offsets alone would carry them along."""
    word = np.int64 if kind in (pa.large_string(), pa.large_binary()) else np.int32
    offsets = pa.py_buffer(np.array([0, 2, 5, 6], word))
    array = pa.Array.from_buffers(kind, 3, [pa.py_buffer(b"\x05"), offsets, pa.py_buffer(b"abXYZc")])
    flat = flatten(pa.chunked_array([array]))
    assert isinstance(flat, Binary)
    assert np.diff(flat.offsets).tolist() == [2, 0, 1]
    same(unflatten(flat), pa.chunked_array([array]))


def test_fixed_width_columns_are_not_copied() -> None:
    array = pa.array([1, 2, 3], pa.int32())
    flat = flatten(pa.chunked_array([array.slice(1)]))
    assert isinstance(flat, Fixed)
    assert flat.values.ctypes.data == array.buffers()[1].address + 4
    assert unflatten(flat).chunk(0).buffers()[1].address == flat.values.ctypes.data


def test_what_has_no_flat_layout_stays_what_it_is() -> None:
    assert isinstance(flatten(pa.chunked_array([pa.array([[1], None])])), Other)
