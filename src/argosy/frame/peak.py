"""How much memory an operation needs on one rank, at most, when it is done in one go. Modelled; a test measures it.

Bytes for each row, beside the row itself, in the order in which they come to life:

    bucket and place      2 + 4
    partitioned copy      the row, twice: what is sent and what arrives
    key                   8 for one number; else the key as bytes, with its hash, offsets and lengths
    row numbers           4 for an order, 8 for a group, 10 for a pair and 4 for its table
    result                as estimated
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import pyarrow as pa

from argosy.frame.estimate import estimate
from argosy.frame.plan import (
    Aggregate,
    Concat,
    Distinct,
    Join,
    Memory,
    Operation,
    Repartition,
    Resident,
    Scan,
    SetOperation,
    Shuffle,
    Sort,
)

_PLACE = 6
_CODE = 8
_KEY = 48
_KEY_COLUMN = 10
_ORDER = 12
_GROUP = 8
_PAIR = 14


def rearranged(schema: pa.Schema, on: Sequence[str], num_rows: float, nbytes: float) -> float:
    """Rows that are brought into buckets by a key: themselves, their copies, and what is kept for each."""
    return 3 * nbytes + num_rows * (_PLACE + _key_nbytes(schema, on))


def sort_peak(schema: pa.Schema, by: Sequence[str], num_rows: float, nbytes: float) -> float:
    return rearranged(schema, by, num_rows, nbytes) + num_rows * _ORDER + nbytes


def group_peak(schema: pa.Schema, keys: Sequence[str], num_rows: float, nbytes: float, result_nbytes: float) -> float:
    return rearranged(schema, keys, num_rows, nbytes) + num_rows * _GROUP + result_nbytes


def join_peak(left_nbytes: float, right_nbytes: float, num_pairs: float, result_nbytes: float) -> float:
    """`left_nbytes` and `right_nbytes`: of the rearranged sides."""
    return left_nbytes + right_nbytes + num_pairs * _PAIR + result_nbytes


def peak_of(operation: Operation, num_ranks: int) -> float:
    """The estimate for a whole operation of a plan, with its inputs and its result, on one of so many ranks."""
    return _peak(operation) / num_ranks


@singledispatch
def _peak(operation: Operation) -> float:
    """What goes row by row: the input and the result."""
    return sum(estimate(one).nbytes for one in operation.inputs) + estimate(operation).nbytes


@_peak.register(Memory)
@_peak.register(Resident)
@_peak.register(Scan)
def _(operation: Operation) -> float:
    return estimate(operation).nbytes


@_peak.register
def _(operation: Sort) -> float:
    below = estimate(operation.input)
    return sort_peak(operation.schema, operation.by, below.num_rows, below.nbytes)


@_peak.register
def _(operation: Aggregate) -> float:
    below = estimate(operation.input)
    result = estimate(operation).nbytes
    if not operation.keys:
        return below.nbytes + result
    return group_peak(operation.input.schema, operation.keys, below.num_rows, below.nbytes, result)


@_peak.register
def _(operation: Distinct) -> float:
    below = estimate(operation.input)
    on = operation.subset if operation.subset is not None else tuple(operation.schema.names)
    return group_peak(operation.schema, on, below.num_rows, below.nbytes, estimate(operation).nbytes)


@_peak.register
def _(operation: SetOperation) -> float:
    left, right = estimate(operation.left), estimate(operation.right)
    num_rows, nbytes = left.num_rows + right.num_rows, left.nbytes + right.nbytes
    return group_peak(operation.schema, operation.schema.names, num_rows, nbytes, estimate(operation).nbytes)


@_peak.register(Concat)
@_peak.register(Shuffle)
@_peak.register(Repartition)
def _(operation: Operation) -> float:
    """Every row moves, with its place."""
    below = [estimate(one) for one in operation.inputs]
    nbytes, num_rows = sum(one.nbytes for one in below), sum(one.num_rows for one in below)
    return 4 * nbytes + num_rows * (_PLACE + 5 * _CODE)


@_peak.register
def _(operation: Join) -> float:
    left, right, result = estimate(operation.left), estimate(operation.right), estimate(operation)
    if operation.how == "cross":
        return left.nbytes + right.nbytes + 2 * _CODE * result.num_rows + result.nbytes
    ours = rearranged(operation.left.schema, operation.left_on, left.num_rows, left.nbytes)
    theirs = rearranged(operation.right.schema, operation.right_on, right.num_rows, right.nbytes)
    return join_peak(ours, theirs, max(left.num_rows, right.num_rows, result.num_rows), result.nbytes)


def _key_nbytes(schema: pa.Schema, on: Sequence[str]) -> float:
    """What is kept of a row's key beside its columns."""
    kinds = [schema.field(name).type for name in on]
    if len(kinds) == 1 and (pa.types.is_primitive(kinds[0]) and kinds[0].bit_width <= 64):
        return 2 * _CODE
    return _KEY + sum(_KEY_COLUMN if pa.types.is_primitive(kind) else 3 * _KEY_COLUMN for kind in kinds)
