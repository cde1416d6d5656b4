"""What needs all values of a group at once: distinct values and quantiles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from numpy.typing import NDArray

from argosy.comm.ranks import Alone, Ranks
from argosy.frame.exchange import to_first
from argosy.frame.flat import NO_MASK, Flat, Other, unflatten
from argosy.frame.folds.dense import dense
from argosy.frame.folds.fold import Fold, Groups, States, floats, mask_of, numbers
from argosy.frame.gather import gather_flat
from argosy.frame.keys import order_codes
from argosy.frame.operators.distinct import distinct
from argosy.frame.sorted_rows import sorted_rows
from argosy.frame.spread import key_flat

_NO_GROUPS: Groups = np.empty(0, np.int32)
_DIGIT_BITS = 11
_DIGIT = np.uint64((1 << _DIGIT_BITS) - 1)
_TOP_SHIFT = 55
"""The uppermost of the digits has the nine bits that are left."""


class Together(Fold):
    splits = False

    def of_all(self, column: Flat, ranks: Ranks) -> States:
        """Of all rows of all ranks, which stay where they are: one state on rank 0, none on the others. Collective."""
        raise NotImplementedError

    def merge(self, states: States, groups: Groups, size: int) -> States:  # noqa: ARG002
        raise AssertionError("all rows of a group are on one rank")


class NumUnique(Together):
    """Values other than null that differ."""

    def fold(self, column: Flat, groups: Groups, size: int) -> States:
        column, groups = _without_nulls(column if pt.is_nested(column.type) else key_flat(column), groups)
        if not len(groups):
            return [numbers(np.zeros(size, np.int64))]
        values = dense(column)
        rows = sorted_rows([numbers(groups.astype(np.int64)), numbers(values)])
        in_order, value = groups[rows], values[rows]
        is_new = np.ones(len(rows), bool)
        is_new[1:] = (in_order[1:] != in_order[:-1]) | (value[1:] != value[:-1])
        return [numbers(np.bincount(in_order[is_new], minlength=size).astype(np.int64))]

    def of_all(self, column: Flat, ranks: Ranks) -> States:
        """Each rank keeps one row of each value; only these move, each to the rank that its hash says."""
        column, _ = _without_nulls(column, _NO_GROUPS)
        if pt.is_nested(column.type):
            _, rows = np.unique(dense(column), return_index=True)
            (kept,) = to_first([gather_flat(column, rows)], len(rows), ranks)
            counts = ranks.allgather(len(np.unique(dense(kept))))
        else:
            table = pa.table({"value": unflatten(column)})
            mine = distinct(distinct(table, None, Alone()), None, ranks)
            counts = ranks.allgather(mine.num_rows)
        return [numbers(np.array([sum(counts)] if ranks.rank == 0 else [], np.int64))]


class Quantile(Together):
    """Between the two nearest values, in proportion. NaN is the largest."""

    def __init__(self, share: float) -> None:
        self._share = share

    def fold(self, column: Flat, groups: Groups, size: int) -> States:
        column, groups = _without_nulls(column, groups)
        values = np.ascontiguousarray(floats(column))
        counts = np.bincount(groups, minlength=size)
        there = counts > 0
        result = np.zeros(size, np.float64)
        if len(values):
            in_order = values[sorted_rows([numbers(groups.astype(np.int64)), numbers(values)])]
            place = (np.cumsum(counts) - counts)[there] + self._share * (counts[there] - 1)
            below, above = np.floor(place).astype(np.int64), np.ceil(place).astype(np.int64)
            low, high = in_order[below], in_order[above]
            with np.errstate(invalid="ignore", over="ignore"):  # between infinite values
                result[there] = low + np.where(low == high, 0.0, (high - low) * (place - below))
        return [numbers(result, there)]

    def of_all(self, column: Flat, ranks: Ranks) -> States:
        values, _ = _without_nulls(column, _NO_GROUPS)
        codes = order_codes(numbers(np.ascontiguousarray(floats(values))))
        total = sum(ranks.allgather(len(codes)))
        place = self._share * (total - 1)
        low, high = (_code_at(codes, int(one(place)), ranks) if total else np.float64(0) for one in (np.floor, np.ceil))
        with np.errstate(invalid="ignore", over="ignore"):  # between infinite values
            value = low if low == high else low + (high - low) * (place - np.floor(place))
        found = [value] if ranks.rank == 0 else []
        return [numbers(np.array(found, np.float64), np.full(len(found), total > 0))]


def _code_at(codes: NDArray[np.uint64], place: int, ranks: Ranks) -> np.float64:
    """The value at this place of the order of all ranks' values, found digit by digit: ranks tell each other how many
    of their values go on with which digit."""
    code = 0
    for shift in range(_TOP_SHIFT, -1, -_DIGIT_BITS):
        digits = ((codes >> np.uint64(shift)) & _DIGIT).astype(np.int64)
        counts = np.sum(ranks.allgather(np.bincount(digits, minlength=1 << _DIGIT_BITS)), axis=0)
        ends = np.cumsum(counts)
        digit = int(np.searchsorted(ends, place, side="right"))
        place -= int(ends[digit] - counts[digit])
        codes = codes[digits == digit]
        code |= digit << shift
    bits = code ^ (1 << 63) if code >> 63 else code ^ ((1 << 64) - 1)
    value: np.float64 = np.array([bits], np.uint64).view(np.float64)[0]
    return value


def _without_nulls(column: Flat, groups: Groups) -> tuple[Flat, Groups]:
    mask = mask_of(column)
    if not mask.size:
        return column, groups
    rows = np.flatnonzero(mask)
    kept = gather_flat(column, rows)
    return kept if isinstance(kept, Other) else replace(kept, valid=NO_MASK), groups[rows] if len(groups) else groups
