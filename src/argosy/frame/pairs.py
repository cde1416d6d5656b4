"""Pairs of rows that a join puts together, from two sides that lie in buckets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from argosy.frame.buffers import empty, zeros
from argosy.frame.exchange import Arrived
from argosy.frame.flat import NO_MASK
from argosy.frame.gather import RowNumbers
from argosy.frame.kernels import join as kernels
from argosy.frame.keys import Keys
from argosy.frame.spread import Spread

Pairs = tuple[RowNumbers, RowNumbers]
"""Rows of the left and of the right; -1 stands for no partner."""
_KINDS = {"semi": kernels.SEMI, "anti": kernels.ANTI}


def find_pairs(left_keys: Keys, left: Spread, right_keys: Keys, right: Spread, how: str) -> Iterator[Pairs]:
    """Chunks of pairs; at least one. Rows without a bucket are those with a null key: they have no partner."""
    finder = _Finder(left_keys, left, right_keys, right, how)
    keep_left, keep_right = how in ("left", "full", "anti"), how in ("right", "full")
    loose = [_loose(left.rows, finder.word)] if left.rows.num_loose and keep_left else []
    if right.rows.num_loose and keep_right:
        loose.append(_loose(right.rows, finder.word)[::-1])
    usual = max(left.rows.num_rows, right.rows.num_rows, 1024) * 5 // 4
    capacity, bucket, num_buckets = usual, 0, left.rows.starts.shape[1]
    while bucket < num_buckets:
        left_rows, right_rows = empty(capacity, finder.word), empty(capacity, finder.word)
        filled, bucket, needed = finder.find(bucket, left_rows, right_rows)
        if filled or (bucket == num_buckets and not loose):
            yield left_rows[:filled], right_rows[:filled]
        capacity = max(usual, needed)
    yield from loose


class _Finder:
    """Where a code is only a hash, pairs are found by it and then compared: two tight loops are faster than one, and
    the hashes of different keys are hardly ever equal."""

    def __init__(self, left_keys: Keys, left: Spread, right_keys: Keys, right: Spread, how: str) -> None:
        self.word: Any = np.int32 if max(len(left_keys.codes), len(right_keys.codes)) < 1 << 31 else np.int64
        self._left_keys, self._right_keys = left_keys, right_keys
        self._left, self._right = left.rows, right.rows
        self._total_buckets = left.total_buckets
        self._how = how
        self._next_row = empty(len(right_keys.codes), self.word)
        self._matched = zeros(len(right_keys.codes), np.uint8) if how in ("right", "full") else NO_MASK

    def find(self, bucket: int, left_rows: RowNumbers, right_rows: RowNumbers) -> tuple[int, int, int]:
        """The number of pairs written, the bucket to go on with, and the pairs that one needs."""
        left, right = self._left_keys, self._right_keys
        if left.exact or self._how in _KINDS:
            return self._search(bucket, left.exact, left_rows, right_rows)
        filled, next_bucket, needed = self._search(bucket, True, left_rows, right_rows)
        kept = kernels.drop_unequal(
            left.offsets, left.data, right.offsets, right.data, left_rows[:filled], right_rows[:filled]
        )
        if kept < filled and self._how != "inner":  # a row that lost its partner must come back without one
            self._matched.fill(0)
            return self._search(bucket, False, left_rows, right_rows)
        return kept, next_bucket, needed

    def _search(self, bucket: int, exact: bool, left_rows: RowNumbers, right_rows: RowNumbers) -> tuple[int, int, int]:
        left_keys, right_keys, left, right = self._left_keys, self._right_keys, self._left, self._right
        if self._how == "inner" and exact:
            return kernels.join_exact(  # type: ignore[no-any-return]
                *(left_keys.codes, left.starts, left.counts, right_keys.codes, right.starts, right.counts),
                *(self._total_buckets, bucket, self._next_row, left_rows, right_rows),
            )
        keep_left, keep_right = self._how in ("left", "full"), self._how in ("right", "full")
        return kernels.join_pairs(  # type: ignore[no-any-return]
            *(left_keys.codes, left_keys.offsets, left_keys.data, left.starts, left.counts),
            *(right_keys.codes, right_keys.offsets, right_keys.data, right.starts, right.counts),
            *(self._total_buckets, exact, _KINDS.get(self._how, kernels.INNER), keep_left, keep_right),
            *(bucket, self._next_row, self._matched, left_rows, right_rows),
        )


def _loose(rows: Arrived, word: Any) -> Pairs:
    numbers = np.arange(rows.num_rows, rows.num_rows + rows.num_loose, dtype=word)
    return numbers, np.full(rows.num_loose, -1, word)
