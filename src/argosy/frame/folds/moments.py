"""Variance and standard deviation: number of values, their mean, and the sum of squared distances from it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from argosy.comm.ranks import Ranks
from argosy.frame.buffers import zeros
from argosy.frame.flat import NO_MASK, Fixed, Flat, unflatten
from argosy.frame.folds.fold import Fold, Groups, States, add, count, floats, integers, mask_of, numbers
from argosy.frame.kernels import aggregate as kernels

_LAST = np.uint64((1 << 11) - 1)
"""The bits of a word for which a float has no room."""


class Variance(Fold):
    """A mean is a float and the little that this float lacks, so that a spread far smaller than the values is kept.

    Distances from any number near the mean will do: M = sum d^2 - n (mean d)^2. That is how rows are folded, whose sum
    may be a bit off, and how states of parts are merged.
    """

    def __init__(self, taken_off: int, root: bool, split: bool = False, scale: int = 0) -> None:
        """`split`: whole numbers, or decimals with `scale` digits after the point, that floats do not tell apart."""
        self._taken_off = taken_off
        self._root = root
        self._split = split
        self._unit = 10.0**-scale if split else 1.0

    def fold(self, column: Flat, groups: Groups, size: int) -> States:
        valid = mask_of(column)
        values, small = _in_two(column) if self._split else (floats(column), None)
        counts = count(groups, valid, size)
        with np.errstate(invalid="ignore", over="ignore"):  # infinite values have no variance
            means = near = add(values, groups, valid, size) / np.maximum(counts, 1)
            if small is not None:
                values, near = values - means[groups] + small, np.zeros(size, np.float64)
            distances, squares = zeros(size, np.float64), zeros(size, np.float64)
            kernels.add_distances(values, groups, valid, near, distances, squares)
            lacking = distances / np.maximum(counts, 1)
            return [numbers(counts), numbers(means), numbers(lacking), numbers(squares - distances * lacking)]

    def merge(self, states: States, groups: Groups, size: int) -> States:
        counts, (means, lacking, squares) = integers(states[0]), map(floats, states[1:])
        total = add(counts, groups, NO_MASK, size)
        with np.errstate(invalid="ignore", over="ignore"):
            near = add(np.where(counts > 0, means * counts, 0.0), groups, NO_MASK, size) / np.maximum(total, 1)
            distances = np.where(counts > 0, means - near[groups] + lacking, 0.0)
            rest = add(counts * distances, groups, NO_MASK, size) / np.maximum(total, 1)
            within = add(squares + counts * distances * distances, groups, NO_MASK, size)
            return [numbers(total), numbers(near), numbers(rest), numbers(within - total * rest * rest)]

    def finish(self, states: States, ranks: Ranks) -> pa.ChunkedArray:  # noqa: ARG002
        counts, squares = integers(states[0]), floats(states[3])
        there = counts > self._taken_off
        with np.errstate(invalid="ignore"):
            values = np.maximum(squares, 0.0) * self._unit**2 / np.where(there, counts - self._taken_off, 1)
            values = np.sqrt(values) if self._root else values
        return unflatten(numbers(values, there))


def _in_two(column: Flat) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Whole numbers of any width, or decimals without their point, as the sum of a float and a small one."""
    assert isinstance(column, Fixed)
    values = np.ascontiguousarray(column.values)
    words = values.view(np.uint64) if values.ndim == 2 else values[:, None]
    large, small = np.zeros(len(words)), np.zeros(len(words))
    for place in reversed(range(words.shape[1])):
        word = words[:, place]
        is_signed = place == words.shape[1] - 1 and not pa.types.is_unsigned_integer(column.type)
        upper = word & ~_LAST
        for part in (upper.view(np.int64) if is_signed else upper, word & _LAST):  # each fits into a float
            value = part.astype(np.float64) * 2.0 ** (64 * place)
            total = large + value
            used = total - large
            small += (large - (total - used)) + (value - used)
            large = total
    return large, small
