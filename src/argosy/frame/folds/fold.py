"""One aggregate. States are flat columns with one row for each group, so they travel like any other column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from argosy.comm.ranks import Ranks
from argosy.frame.buffers import zeros
from argosy.frame.flat import NO_MASK, Fixed, Flat, Mask, Other, unflatten
from argosy.frame.kernels import aggregate as kernels

Groups = NDArray[Any]
"""The number of each row's group."""
States = list[Flat]


class Fold(ABC):
    splits = True
    """Whether states of parts of a group can be merged; else all rows of a group must be on one rank."""

    @abstractmethod
    def fold(self, column: Flat, groups: Groups, size: int) -> States:
        """The states of `size` groups from these rows."""

    @abstractmethod
    def merge(self, states: States, groups: Groups, size: int) -> States:
        """The states of `size` groups from states of parts of them."""

    def finish(self, states: States, ranks: Ranks) -> pa.ChunkedArray:  # noqa: ARG002
        """The result; collective."""
        return unflatten(states[0])


def mask_of(column: Flat) -> Mask:
    if not isinstance(column, Other):
        return column.valid
    if column.array.null_count == 0:
        return NO_MASK
    mask: Mask = pc.is_valid(column.array).cast(pa.uint8()).to_numpy()
    return mask


def integers(column: Flat) -> NDArray[np.int64]:
    """The values as 64 bits; unsigned ones keep theirs."""
    values = _values(column)
    if pa.types.is_boolean(column.type) or pa.types.is_unsigned_integer(column.type):
        return values.astype(np.uint64, copy=False).view(np.int64)
    return values.view(f"i{values.itemsize}").astype(np.int64, copy=False)


def floats(column: Flat) -> NDArray[np.float64]:
    if pa.types.is_decimal(column.type):
        converted: NDArray[np.float64] = unflatten(column).cast(pa.float64()).fill_null(0).to_numpy()
        return converted
    values = _values(column)
    if pa.types.is_floating(column.type):
        return values.view(f"f{values.itemsize}").astype(np.float64, copy=False)
    if pa.types.is_unsigned_integer(column.type) or pa.types.is_boolean(column.type):
        return values.astype(np.float64)
    return values.view(f"i{values.itemsize}").astype(np.float64)


def numbers(values: NDArray[Any], valid: NDArray[np.bool_] | None = None) -> Fixed:
    """A column of these 64-bit numbers, null where they are not valid."""
    kind = pa.from_numpy_dtype(values.dtype)
    mask = NO_MASK if valid is None or valid.all() else valid.view(np.uint8)
    return Fixed(kind, values.view(np.uint64), mask)


def count(groups: Groups, valid: Mask, size: int) -> NDArray[np.int64]:
    """How many values each group has."""
    counts: NDArray[np.int64] = zeros(size, np.int64)
    kernels.count_valid(groups, valid, counts)
    return counts


def add(values: NDArray[Any], groups: Groups, valid: Mask, size: int) -> NDArray[Any]:
    """The sum of each group, in the type of the values."""
    sums = zeros(size, values.dtype)
    kernels.add(values, groups, valid, sums)
    return sums


def _values(column: Flat) -> NDArray[Any]:
    assert isinstance(column, Fixed)
    return column.values
