"""Counts, sums and means. The last state of a sum is the number of values, where some group may have none."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from argosy.comm.ranks import Ranks
from argosy.errors import FrameError
from argosy.frame.aggregates import decimal_sum_type
from argosy.frame.buffers import zeros
from argosy.frame.flat import NO_MASK, Fixed, Flat, Mask, as_arrow, flatten, unflatten
from argosy.frame.folds.fold import Fold, Groups, States, add, count, floats, integers, mask_of, numbers
from argosy.frame.gather import gather_flat
from argosy.frame.kernels import aggregate as kernels


class Count(Fold):
    """Rows, or values that are not null."""

    def __init__(self, every_row: bool) -> None:
        self._every_row = every_row

    def fold(self, column: Flat, groups: Groups, size: int) -> States:
        return [numbers(count(groups, NO_MASK if self._every_row else mask_of(column), size))]

    def merge(self, states: States, groups: Groups, size: int) -> States:
        return [numbers(add(integers(states[0]), groups, NO_MASK, size))]


class Sum(Fold):
    """Of floats, or of integers whose sum stays within 64 bits."""

    def __init__(self, kind: pa.DataType, counts: bool) -> None:
        self._is_float = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        self._is_unsigned = pa.types.is_unsigned_integer(kind)
        self._counts = counts
        """Whether values are counted: for a mean, and to give null where a group has none."""

    def fold(self, column: Flat, groups: Groups, size: int) -> States:
        valid = mask_of(column)
        values: NDArray[np.float64] | NDArray[np.int64] = floats(column) if self._is_float else integers(column)
        sums = [numbers(add(values, groups, valid, size))]
        return [*sums, numbers(count(groups, valid, size))] if self._counts else [*sums]

    def merge(self, states: States, groups: Groups, size: int) -> States:
        values = floats(states[0]) if self._is_float else integers(states[0])
        return [numbers(add(one, groups, NO_MASK, size)) for one in (values, *map(integers, states[1:]))]

    def finish(self, states: States, ranks: Ranks) -> pa.ChunkedArray:  # noqa: ARG002
        return _null_where_none(self._typed(states[0]), states[1:])

    def totals(self, states: States) -> NDArray[np.float64]:
        return floats(self._typed(states[0]))

    def _typed(self, state: Flat) -> Fixed:
        assert isinstance(state, Fixed)
        return Fixed(pa.uint64(), state.values) if self._is_unsigned else state


class WideSum(Fold):
    """Of integers, in 128 bits: lower half, upper half."""

    def __init__(self, kind: pa.DataType, counts: bool) -> None:
        self._is_unsigned = bool(pa.types.is_unsigned_integer(kind) or pa.types.is_boolean(kind))
        self._counts = counts

    def fold(self, column: Flat, groups: Groups, size: int) -> States:
        valid = mask_of(column)
        low, high = zeros(size, np.uint64), zeros(size, np.int64)
        kernels.add_wide(integers(column), groups, valid, self._is_unsigned, low, high)
        counts = [numbers(count(groups, valid, size))] if self._counts else []
        return [numbers(low), numbers(high), *counts]

    def merge(self, states: States, groups: Groups, size: int) -> States:
        low, high = zeros(size, np.uint64), zeros(size, np.int64)
        kernels.add_wide_sums(integers(states[0]).view(np.uint64), integers(states[1]), groups, low, high)
        counts = [numbers(add(integers(one), groups, NO_MASK, size)) for one in states[2:]]
        return [numbers(low), numbers(high), *counts]

    def finish(self, states: States, ranks: Ranks) -> pa.ChunkedArray:
        """64 bits where every sum on every rank fits; else decimals of 38 digits."""
        low, high = integers(states[0]), integers(states[1])
        fits = bool((high == 0).all()) if self._is_unsigned else bool((high == (low >> 63)).all())
        if all(ranks.allgather(fits)):
            kind = pa.uint64() if self._is_unsigned else pa.int64()
            return _null_where_none(Fixed(kind, low.view(np.uint64)), states[2:])
        both = np.empty((len(low), 2), np.int64)
        both[:, 0], both[:, 1] = low, high
        return _null_where_none(Fixed(pa.decimal128(38, 0), both.view(np.uint8).reshape(len(low), 16)), states[2:])

    def totals(self, states: States) -> NDArray[np.float64]:
        low, high = integers(states[0]), integers(states[1])
        is_small = high == (low >> 63)
        large = high.astype(np.float64) * 2.0**64 + low.view(np.uint64).astype(np.float64)
        return np.where(is_small, low.astype(np.float64), large)


class DecimalSum(Fold):
    """Arrow adds decimals up, and does not notice when a sum leaves their 128 or 256 bits."""

    def __init__(self, kind: pa.DataType, most: int, column: str) -> None:
        """`most`: no sum is larger, either way, with the point left out."""
        self._gives = decimal_sum_type(kind)
        self._column = column
        if most >= 1 << 255:
            raise self._too_long()
        self._within = self._gives if most < 10**38 else pa.decimal256(76, kind.scale)

    def fold(self, column: Flat, groups: Groups, size: int) -> States:
        wide = unflatten(column).cast(self._within)
        rows = pa.table({"group": as_arrow(groups.astype(np.int64)), "value": wide})
        sums = rows.group_by("group").aggregate([("value", "sum")])
        places = np.full(size, -1, np.int64)
        places[sums.column("group").to_numpy()] = np.arange(sums.num_rows)
        return [gather_flat(flatten(sums.column("value_sum")), places, True)]

    def merge(self, states: States, groups: Groups, size: int) -> States:
        return self.fold(states[0], groups, size)

    def finish(self, states: States, ranks: Ranks) -> pa.ChunkedArray:  # noqa: ARG002
        sums = unflatten(states[0])
        try:
            return sums if sums.type.equals(self._gives) else sums.cast(self._gives)
        except pa.ArrowInvalid:
            raise self._too_long() from None

    def _too_long(self) -> FrameError:
        return FrameError(
            f"a sum of {self._column!r} has more digits than {self._gives} has room for; "
            "cast it to float64, or to a decimal of fewer digits after the point, before it is added up"
        )


class Mean(Fold):
    def __init__(self, of: Sum | WideSum) -> None:
        self._sum = of

    def fold(self, column: Flat, groups: Groups, size: int) -> States:
        return self._sum.fold(column, groups, size)

    def merge(self, states: States, groups: Groups, size: int) -> States:
        return self._sum.merge(states, groups, size)

    def finish(self, states: States, ranks: Ranks) -> pa.ChunkedArray:  # noqa: ARG002
        counts = integers(states[-1])
        return unflatten(numbers(self._sum.totals(states) / np.maximum(counts, 1), counts > 0))


def _null_where_none(sums: Fixed, counts: States) -> pa.ChunkedArray:
    there = integers(counts[0]) > 0 if counts else None
    valid: Mask = NO_MASK if there is None or there.all() else there.view(np.uint8)
    return unflatten(Fixed(sums.type, sums.values, valid))
