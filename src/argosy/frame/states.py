"""How each aggregate is folded: a state for each group from rows, states merged, and the result.

States are flat columns with one row for each group, so they travel like any other column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from argosy.comm.ranks import Alone, Ranks
from argosy.frame.buffers import empty, zeros
from argosy.frame.flat import NO_MASK, Binary, Fixed, Flat, Mask, unflatten
from argosy.frame.gather import gather_flat
from argosy.frame.kernels import aggregate as kernels
from argosy.frame.kernels import sort as sorting
from argosy.frame.keys import order_codes
from argosy.frame.plan import Agg
from argosy.frame.sort_keys import SortOrder
from argosy.frame.spread import key_flat

Groups = NDArray[Any]
"""The number of each row's group."""
States = list[Flat]
_WORDS = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Folder:
    """One aggregate. `split` says whether states of parts of a group can be merged."""

    fold: Callable[[Flat | None, Groups, int], States]
    merge: Callable[[States, Groups, int], States]
    finish: Callable[[States, Ranks], pa.ChunkedArray]
    split: bool = True


def folder(agg: Agg, kind: pa.DataType | None, needs_wide_sum: bool) -> Folder:
    """`kind`: the type of the column. `needs_wide_sum`: a sum of it may not fit into 64 bits."""
    if agg.kind == "len" or (agg.kind == "count" and agg.column is None):
        return Folder(_fold_len, _merge_sums, _finish_first)
    assert kind is not None
    match agg.kind:
        case "count":
            return Folder(_fold_count, _merge_sums, _finish_first)
        case "sum":
            if pa.types.is_decimal(kind):
                return Folder(_fold_decimal(agg), _merge_decimal, _finish_first)
            fold, merge, finish = _sum_parts(kind, needs_wide_sum)
            return Folder(fold, merge, finish)
        case "mean":
            fold, merge, _ = _sum_parts(kind, needs_wide_sum)
            return Folder(fold, merge, lambda states, _: _finish_mean(states, kind))
        case "var" | "std":
            off = 1 if agg.parameter is None else agg.parameter
            return Folder(_fold_moments, _merge_moments, lambda states, _: _finish_var(states, off, agg.kind == "std"))
        case "min" | "max" | "any" | "all":
            largest = agg.kind in ("max", "any")
            fold_best = _best(largest)
            return Folder(
                lambda column, groups, size: [fold_best(_there(column), groups, size)],
                lambda states, groups, size: [fold_best(states[0], groups, size)],
                _finish_first,
            )
        case "first" | "last":
            pick = _first_rows if agg.kind == "first" else _last_rows
            return Folder(
                lambda column, groups, size: [gather_flat(_there(column), pick(groups, size))],
                lambda states, groups, size: [gather_flat(states[0], pick(groups, size))],
                _finish_first,
            )
        case "n_unique":
            return Folder(_fold_n_unique, _no_merge, _finish_first, split=False)
        case "median" | "quantile":
            share = 0.5 if agg.kind == "median" else float(agg.parameter)
            return Folder(_fold_quantile(share), _no_merge, _finish_first, split=False)
    raise ValueError(f"unknown aggregate {agg.kind!r}")


def needs_wide_sum(column: pa.ChunkedArray, ranks: Ranks) -> bool:
    """Whether a sum of these integers may leave 64 bits, by the largest value and the number of rows. Collective."""
    largest = 0
    if pa.types.is_integer(column.type) and len(column):
        ends = pc.min_max(column)
        if ends["max"].is_valid:
            largest = max(abs(ends["min"].as_py()), abs(ends["max"].as_py()))
    facts = ranks.allgather((largest, len(column)))
    return max(one for one, _ in facts) * sum(rows for _, rows in facts) >= 1 << 63


# Numbers ---------------------------------------------------------------------------------------------------------------


def _there(column: Flat | None) -> Flat:
    assert column is not None
    return column


def _mask(column: Flat) -> Mask:
    return column.valid if isinstance(column, Fixed | Binary) else pc.is_valid(column.array).cast(pa.uint8()).to_numpy()


def _fold_len(column: Flat | None, groups: Groups, size: int) -> States:
    return [_counts(groups, NO_MASK, size)]


def _fold_count(column: Flat | None, groups: Groups, size: int) -> States:
    return [_counts(groups, _mask(_there(column)), size)]


def _counts(groups: Groups, valid: Mask, size: int) -> Fixed:
    counts = zeros(size, np.int64)
    kernels.count_valid(groups, valid, counts)
    return Fixed(pa.int64(), counts.view(np.uint64))


def _merge_sums(states: States, groups: Groups, size: int) -> States:
    return [_add(_int64(states[0]), groups, NO_MASK, size)]


def _add(values: NDArray[Any], groups: Groups, valid: Mask, size: int) -> Fixed:
    sums = zeros(size, values.dtype)
    kernels.add(values, groups, valid, sums)
    kind = pa.float64() if values.dtype == np.float64 else pa.int64()
    return Fixed(kind, sums.view(np.uint64))


def _finish_first(states: States, ranks: Ranks) -> pa.ChunkedArray:
    return unflatten(states[0])


def _int64(column: Flat) -> NDArray[np.int64]:
    assert isinstance(column, Fixed)
    values = column.values
    if pa.types.is_boolean(column.type) or pa.types.is_unsigned_integer(column.type):
        return values.astype(np.uint64, copy=False).view(np.int64)
    return values.view(f"i{values.itemsize}").astype(np.int64, copy=False)


def _float64(column: Flat) -> NDArray[np.float64]:
    assert isinstance(column, Fixed)
    if pa.types.is_floating(column.type):
        return column.values.view(f"f{column.values.itemsize}").astype(np.float64, copy=False)
    if pa.types.is_decimal(column.type):
        return unflatten(column).cast(pa.float64()).fill_null(0).to_numpy()
    if pa.types.is_unsigned_integer(column.type) or pa.types.is_boolean(column.type):
        return column.values.astype(np.float64)
    return column.values.view(f"i{column.values.itemsize}").astype(np.float64)


# Sums and means: [sum, number of values] or [lower half, upper half, number of values] -----------------------------------


def _sum_parts(kind: pa.DataType, wide: bool) -> tuple[Any, Any, Any]:
    unsigned = bool(pa.types.is_unsigned_integer(kind) or pa.types.is_boolean(kind))
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _fold_float_sum, _merge_plain_sum, lambda states, _: _null_where_none(states[0], states[-1])
    if wide:
        return _fold_wide_sum(unsigned), _merge_wide_sum, lambda states, ranks: _finish_wide(states, unsigned, ranks)
    result = pa.uint64() if pa.types.is_unsigned_integer(kind) else pa.int64()
    return _fold_int_sum, _merge_plain_sum, lambda states, _: _null_where_none(states[0], states[-1], result)


def _fold_float_sum(column: Flat | None, groups: Groups, size: int) -> States:
    column = _there(column)
    valid = _mask(column)
    return [_add(_float64(column), groups, valid, size), _counts(groups, valid, size)]


def _fold_int_sum(column: Flat | None, groups: Groups, size: int) -> States:
    column = _there(column)
    valid = _mask(column)
    return [_add(_int64(column), groups, valid, size), _counts(groups, valid, size)]


def _merge_plain_sum(states: States, groups: Groups, size: int) -> States:
    first = states[0]
    values = _float64(first) if pa.types.is_floating(first.type) else _int64(first)
    return [_add(values, groups, NO_MASK, size), _add(_int64(states[1]), groups, NO_MASK, size)]


def _fold_wide_sum(unsigned: bool) -> Callable[[Flat | None, Groups, int], States]:
    def fold(column: Flat | None, groups: Groups, size: int) -> States:
        column = _there(column)
        low, high = zeros(size, np.uint64), zeros(size, np.int64)
        kernels.add_wide(_int64(column), groups, _mask(column), unsigned, low, high)
        return [
            Fixed(pa.uint64(), low),
            Fixed(pa.int64(), high.view(np.uint64)),
            _counts(groups, _mask(column), size),
        ]

    return fold


def _merge_wide_sum(states: States, groups: Groups, size: int) -> States:
    low, high = zeros(size, np.uint64), zeros(size, np.int64)
    assert isinstance(states[0], Fixed)
    kernels.add_wide_sums(states[0].values, _int64(states[1]), groups, low, high)
    return [
        Fixed(pa.uint64(), low),
        Fixed(pa.int64(), high.view(np.uint64)),
        _add(_int64(states[2]), groups, NO_MASK, size),
    ]


def _finish_wide(states: States, unsigned: bool, ranks: Ranks) -> pa.ChunkedArray:
    """64 bits where every sum on every rank fits; else decimals of 38 digits."""
    low, high = _int64(states[0]), _int64(states[1])
    fits = bool((high == 0).all()) if unsigned else bool((high == (low >> 63)).all())
    if all(ranks.allgather(fits)):
        kind = pa.uint64() if unsigned else pa.int64()
        return _null_where_none(Fixed(kind, low.view(np.uint64)), states[2])
    both = np.empty((len(low), 2), np.int64)
    both[:, 0], both[:, 1] = low, high
    return _null_where_none(Fixed(pa.decimal128(38, 0), both.view(np.uint8).reshape(len(low), 16)), states[2])


def _null_where_none(column: Flat, counts: Flat, kind: pa.DataType | None = None) -> pa.ChunkedArray:
    assert isinstance(column, Fixed)
    there = _int64(counts) > 0
    return unflatten(Fixed(kind or column.type, column.values, NO_MASK if there.all() else there.view(np.uint8)))


def _finish_mean(states: States, kind: pa.DataType) -> pa.ChunkedArray:
    counts = _int64(states[-1])
    if len(states) == 3:
        unsigned = bool(pa.types.is_unsigned_integer(kind))
        low = _int64(states[0]).view(np.uint64)
        high = _int64(states[1])
        del unsigned
        totals = high.astype(np.float64) * 2.0**64 + low.astype(np.float64)
        small = high == (low.view(np.int64) >> 63)
        totals = np.where(small, low.view(np.int64).astype(np.float64), totals)
    elif pa.types.is_floating(states[0].type):
        totals = _float64(states[0])
    else:
        totals = _int64(states[0]).astype(np.float64)
    return _ratio(totals, counts)


def _ratio(totals: NDArray[np.float64], counts: NDArray[np.int64]) -> pa.ChunkedArray:
    there = counts > 0
    values = totals / np.maximum(counts, 1)
    return unflatten(
        Fixed(pa.float64(), values.view(np.uint64), NO_MASK if there.all() else there.view(np.uint8))
    )


# Variance: [number of values, mean, sum of squared distances from it] ----------------------------------------------------


def _fold_moments(column: Flat | None, groups: Groups, size: int) -> States:
    column = _there(column)
    valid = _mask(column)
    values = _float64(column)
    counts = _counts(groups, valid, size)
    totals = _float64(_add(values, groups, valid, size))
    means = totals / np.maximum(_int64(counts), 1)
    squares = zeros(size, np.float64)
    kernels.add_squares(values, groups, valid, means, squares)
    return [counts, Fixed(pa.float64(), means.view(np.uint64)), Fixed(pa.float64(), squares.view(np.uint64))]


def _merge_moments(states: States, groups: Groups, size: int) -> States:
    counts, means, squares = _int64(states[0]), _float64(states[1]), _float64(states[2])
    total = _add(counts, groups, NO_MASK, size)
    weighted = _float64(_add(np.where(counts > 0, means * counts, 0.0), groups, NO_MASK, size))
    mean = weighted / np.maximum(_int64(total), 1)
    distance = means - mean[groups]
    between = np.where(counts > 0, counts * distance * distance, 0.0)
    square = _float64(_add(squares + between, groups, NO_MASK, size))
    return [total, Fixed(pa.float64(), mean.view(np.uint64)), Fixed(pa.float64(), square.view(np.uint64))]


def _finish_var(states: States, off: int, root: bool) -> pa.ChunkedArray:
    counts, squares = _int64(states[0]), _float64(states[2])
    there = counts > off
    with np.errstate(invalid="ignore"):
        values = squares / np.where(there, counts - off, 1)
        values = np.sqrt(values) if root else values
    return unflatten(Fixed(pa.float64(), values.view(np.uint64), NO_MASK if there.all() else there.view(np.uint8)))


# Values of chosen rows -------------------------------------------------------------------------------------------------


def _best(largest: bool) -> Callable[[Flat, Groups, int], Flat]:
    def fold(column: Flat, groups: Groups, size: int) -> Flat:
        rows = np.full(size, -1, groups.dtype)
        kernels.best_rows(_sortable(column), groups, _mask(column), largest, rows)
        missing = bool((rows < 0).any())
        return gather_flat(column, rows, missing)

    return fold


def _sortable(column: Flat) -> NDArray[np.uint64]:
    """A number for each value, in the order of the values."""
    key = key_flat(column)
    if isinstance(key, Fixed) and key.values.ndim == 1:
        return order_codes(key)
    ordered, rows = _sorted_rows([key])
    del ordered
    places = empty(len(rows), np.uint64)
    places[rows] = np.arange(len(rows), dtype=np.uint64)
    return places


def _sorted_rows(keys: Sequence[Flat]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """This rank's rows in order of these columns, with their codes."""
    codes = SortOrder(keys, [False] * len(keys), False, Alone()).codes(keys)
    size = len(codes.values)
    ordered, rows = empty(size, np.uint64), empty(size, np.int32)
    starts, counts = np.zeros((1, 1), np.int64), np.full((1, 1), size, np.int64)
    sorting.sort_ranges(codes.values, codes.flip, starts, counts, ordered, rows)
    if codes.offsets is not None and codes.data is not None:
        sorting.sort_ties(ordered, rows, codes.offsets, codes.data, codes.skip)
    return ordered, rows


def _last_rows(groups: Groups, size: int) -> Groups:
    rows = np.zeros(size, groups.dtype)
    kernels.last_rows(groups, rows)
    return rows


def _first_rows(groups: Groups, size: int) -> Groups:
    rows = np.zeros(size, groups.dtype)
    kernels.last_rows(np.ascontiguousarray(groups[::-1]), rows)
    return (len(groups) - 1 - rows).astype(groups.dtype)


# What needs all values of a group at once ------------------------------------------------------------------------------


def _no_merge(states: States, groups: Groups, size: int) -> States:
    raise AssertionError("all rows of a group are on one rank")


def _fold_n_unique(column: Flat | None, groups: Groups, size: int) -> States:
    """Values in order of group and value; each one that differs from the one before counts."""
    column = key_flat(_there(column))
    there = np.flatnonzero(_mask(column)) if _mask(column).size else None
    if there is not None:
        column, groups = gather_flat(column, there), groups[there]
        column = Fixed(column.type, column.values) if isinstance(column, Fixed) else column
        if isinstance(column, Binary):
            column = Binary(column.type, column.offsets, column.data)
    if not len(groups):
        return [Fixed(pa.int64(), np.zeros(size, np.uint64))]
    places = _dense(column)
    number = Fixed(pa.int64(), groups.astype(np.uint64))
    _, rows = _sorted_rows([number, Fixed(pa.uint64(), places)])
    in_order, value = groups[rows], places[rows]
    new = np.ones(len(rows), bool)
    new[1:] = (in_order[1:] != in_order[:-1]) | (value[1:] != value[:-1])
    counts = np.bincount(in_order[new], minlength=size).astype(np.int64)
    return [Fixed(pa.int64(), counts.view(np.uint64))]


def _dense(column: Flat) -> NDArray[np.uint64]:
    """A number for each value, below the number of rows; equal values have equal ones."""
    if isinstance(column, Fixed) and column.values.ndim == 1:
        codes = order_codes(column)
    else:
        codes = pc.rank(unflatten(column), tiebreaker="dense").to_numpy().astype(np.uint64)
    return np.unique(codes, return_inverse=True)[1].astype(np.uint64)


def _fold_quantile(share: float) -> Callable[[Flat | None, Groups, int], States]:
    def fold(column: Flat | None, groups: Groups, size: int) -> States:
        column = _there(column)
        values, mask = _float64(column), _mask(column)
        if mask.size:
            values, groups = values[mask != 0], groups[mask != 0]
        number = Fixed(pa.int64(), groups.astype(np.uint64))
        counts = np.bincount(groups, minlength=size)
        result = np.zeros(size, np.float64)
        there = counts > 0
        if len(values):
            _, rows = _sorted_rows([number, Fixed(pa.float64(), np.ascontiguousarray(values).view(np.uint64))])
            in_order = values[rows]
            place = (np.cumsum(counts) - counts)[there] + share * (counts[there] - 1)
            below = np.floor(place).astype(np.int64)
            above = np.ceil(place).astype(np.int64)
            with np.errstate(invalid="ignore"):
                step = np.where(below == above, 0.0, (in_order[above] - in_order[below]) * (place - below))
            result[there] = in_order[below] + step
        return [Fixed(pa.float64(), result.view(np.uint64), NO_MASK if there.all() else there.view(np.uint8))]

    return fold


# Decimals, which Arrow adds up -----------------------------------------------------------------------------------------


def _fold_decimal(agg: Agg) -> Callable[[Flat | None, Groups, int], States]:
    def fold(column: Flat | None, groups: Groups, size: int) -> States:
        return [_add_decimals(unflatten(_there(column)), groups, size)]

    return fold


def _merge_decimal(states: States, groups: Groups, size: int) -> States:
    return [_add_decimals(unflatten(states[0]), groups, size)]


def _add_decimals(column: pa.ChunkedArray, groups: Groups, size: int) -> Flat:
    from argosy.frame.flat import flatten

    wide = column.cast(pa.decimal128(38, column.type.scale))
    rows = pa.table({"group": pa.array(groups.astype(np.int64)), "value": wide})
    sums = rows.group_by("group").aggregate([("value", "sum")])
    places = np.full(size, -1, np.int64)
    places[sums.column("group").to_numpy()] = np.arange(sums.num_rows)
    return gather_flat(flatten(sums.column("value_sum")), places, True)
