"""What needs all values of a group at once: distinct values and quantiles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow.types as pt

from argosy.frame.flat import NO_MASK, Flat, Other
from argosy.frame.folds.dense import dense
from argosy.frame.folds.fold import Fold, Groups, States, floats, mask_of, numbers
from argosy.frame.gather import gather_flat
from argosy.frame.sorted_rows import sorted_rows
from argosy.frame.spread import key_flat


class _Together(Fold):
    splits = False

    def merge(self, states: States, groups: Groups, size: int) -> States:  # noqa: ARG002
        raise AssertionError("all rows of a group are on one rank")


class NumUnique(_Together):
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


class Quantile(_Together):
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


def _without_nulls(column: Flat, groups: Groups) -> tuple[Flat, Groups]:
    mask = mask_of(column)
    if not mask.size:
        return column, groups
    rows = np.flatnonzero(mask)
    kept = gather_flat(column, rows)
    return kept if isinstance(kept, Other) else replace(kept, valid=NO_MASK), groups[rows]
