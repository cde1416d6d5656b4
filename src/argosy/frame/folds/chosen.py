"""The value of one row of each group: the smallest, the largest, the first, the last."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.frame.buffers import empty
from argosy.frame.flat import Fixed, Flat
from argosy.frame.folds.fold import Fold, Groups, States, mask_of
from argosy.frame.gather import gather_flat
from argosy.frame.kernels import aggregate as kernels
from argosy.frame.keys import order_codes
from argosy.frame.sorted_rows import sorted_rows
from argosy.frame.spread import key_flat


class Best(Fold):
    """`min` and `max`, and with them `all` and `any`. Nulls are left out."""

    def __init__(self, largest: bool) -> None:
        self._largest = largest

    def fold(self, column: Flat, groups: Groups, size: int) -> States:
        rows = np.full(size, -1, groups.dtype)
        kernels.best_rows(_sortable(column), groups, mask_of(column), self._largest, rows)
        return [gather_flat(column, rows, bool((rows < 0).any()))]

    def merge(self, states: States, groups: Groups, size: int) -> States:
        return self.fold(states[0], groups, size)


class First(Fold):
    """The value of the first row, or of the last, null or not. Rows of a group are in the order of the frame."""

    def __init__(self, last: bool) -> None:
        self._last = last

    def fold(self, column: Flat, groups: Groups, size: int) -> States:
        rows = np.zeros(size, groups.dtype)
        if self._last:
            kernels.last_rows(groups, rows)
        else:
            kernels.last_rows(np.ascontiguousarray(groups[::-1]), rows)
            rows = (len(groups) - 1 - rows).astype(groups.dtype)
        return [gather_flat(column, rows)]

    def merge(self, states: States, groups: Groups, size: int) -> States:
        return self.fold(states[0], groups, size)


def _sortable(column: Flat) -> NDArray[np.uint64]:
    """A number for each value, in the order of the values."""
    key = key_flat(column)
    if isinstance(key, Fixed) and key.values.ndim == 1:
        return order_codes(key)
    rows = sorted_rows([key])
    places: NDArray[np.uint64] = empty(len(rows), np.uint64)
    places[rows] = np.arange(len(rows), dtype=np.uint64)
    return places
