"""Variance and standard deviation: number of values, their mean, and the sum of squared distances from it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from argosy.comm.ranks import Ranks
from argosy.frame.buffers import zeros
from argosy.frame.flat import NO_MASK, Flat, unflatten
from argosy.frame.folds.fold import Fold, Groups, States, add, count, floats, integers, mask_of, numbers
from argosy.frame.kernels import aggregate as kernels


class Variance(Fold):
    """States of parts merge by M = M1 + M2 + n1 (m1 - m)^2 + n2 (m2 - m)^2, with m the mean of both."""

    def __init__(self, taken_off: int, root: bool) -> None:
        self._taken_off = taken_off
        self._root = root

    def fold(self, column: Flat, groups: Groups, size: int) -> States:
        valid, values = mask_of(column), floats(column)
        counts = count(groups, valid, size)
        means = add(values, groups, valid, size) / np.maximum(counts, 1)
        squares = zeros(size, np.float64)
        kernels.add_squares(values, groups, valid, means, squares)
        return [numbers(counts), numbers(means), numbers(squares)]

    def merge(self, states: States, groups: Groups, size: int) -> States:
        counts, means, squares = integers(states[0]), floats(states[1]), floats(states[2])
        total = add(counts, groups, NO_MASK, size)
        with np.errstate(invalid="ignore", over="ignore"):  # infinite values have no variance
            weighted = add(np.where(counts > 0, means * counts, 0.0), groups, NO_MASK, size)
            mean = weighted / np.maximum(total, 1)
            distance = means - mean[groups]
            between = np.where(counts > 0, counts * distance * distance, 0.0)
        return [numbers(total), numbers(mean), numbers(add(squares + between, groups, NO_MASK, size))]

    def finish(self, states: States, ranks: Ranks) -> pa.ChunkedArray:  # noqa: ARG002
        counts, squares = integers(states[0]), floats(states[2])
        there = counts > self._taken_off
        with np.errstate(invalid="ignore"):
            values = squares / np.where(there, counts - self._taken_off, 1)
            values = np.sqrt(values) if self._root else values
        return unflatten(numbers(values, there))
