"""What two equal answers have in common, whatever engine gave them and in whatever order the rows are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from argosy.bench.data import PREFIX

_Words = NDArray[np.uint64]
_ODD = np.uint64(0x9E3779B97F4A7C15)
_NULL = np.uint64(0xD6E8FEB86659FD93)


def digest(table: pa.Table, sorted_by: str | None = None) -> tuple[int, int]:
    """Number of rows, and the sum of a hash of each row over its columns in the order of their names.

    With `sorted_by`, rows that are not in that order give a sum that no answer in order has.
    """
    if sorted_by is not None and not _is_sorted(table.column(sorted_by)):
        return table.num_rows, -1
    rows = np.zeros(table.num_rows, np.uint64)
    for name in sorted(table.column_names):
        rows = _mixed(rows * _ODD + _words(table.column(name)))
    return table.num_rows, int(rows.sum(dtype=np.uint64))


def _words(column: pa.ChunkedArray) -> _Words:
    """A word for each value. A sum is the same number in whatever type an engine returns it."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        column = pc.utf8_slice_codeunits(column.cast(pa.large_string()), len(PREFIX))
    whole = column.cast(pa.int64())
    if whole.null_count == 0:
        words: _Words = whole.to_numpy().view(np.uint64)
        return words
    missing = pc.is_null(whole).to_numpy()
    return np.where(missing, _NULL, pc.fill_null(whole, 0).to_numpy().view(np.uint64))


def _mixed(words: _Words) -> _Words:
    """Every bit of the result depends on every bit: rows that swap their values do not cancel out."""
    words = (words ^ (words >> np.uint64(32))) * _ODD
    return words ^ (words >> np.uint64(29))


def _is_sorted(column: pa.ChunkedArray) -> bool:
    values = column.to_numpy()
    return bool((values[1:] >= values[:-1]).all())
