"""What type an aggregate gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import types as is_

from argosy.errors import TypeMismatch, UnknownColumn
from argosy.frame.expressions.common import is_comparable, is_number, plain

if TYPE_CHECKING:
    from argosy.frame.plan import Agg

KEEPING = frozenset(["min", "max", "first", "last"])
COUNTING = frozenset(["count", "len", "n_unique"])
AVERAGING = frozenset(["mean", "var", "std", "median", "quantile"])
DECIDING = frozenset(["any", "all"])
KINDS = frozenset(["sum"]) | KEEPING | COUNTING | AVERAGING | DECIDING


def result_type(agg: Agg, schema: pa.Schema) -> pa.DataType:
    """The type of the aggregate's column, for an input of this schema.

    The sum of integers may come out wider, as decimal128(38, 0), where it does not fit into 64 bits.
    """
    if agg.column is None:
        return aggregated_type(agg.kind, pa.null(), "count()")
    index = schema.get_field_index(agg.column)
    if index < 0:
        raise UnknownColumn(agg.column, schema.names)
    return aggregated_type(agg.kind, schema.field(index).type, f"{agg.kind} of {agg.column!r}")


def aggregated_type(kind: str, column: pa.DataType, asked: str) -> pa.DataType:
    """The type of an aggregate of a column of this type; `asked` names it in the error."""
    if kind not in KINDS:
        raise TypeMismatch(f"{asked}: there is no aggregate {kind!r}; there are: {', '.join(sorted(KINDS))}")
    if kind in COUNTING:
        return pa.int64()
    values = plain(column)
    if kind == "sum":
        return _sum_type(values, asked)
    if kind in KEEPING:
        if kind in ("min", "max") and not (is_comparable(values) or is_.is_null(values)):
            raise TypeMismatch(f"{asked}: values of type {column} have no order; use first, last or count")
        return column
    if kind in AVERAGING:
        if not (is_number(values) or is_.is_boolean(values) or is_.is_null(values)):
            raise TypeMismatch(f"{asked}: this needs numbers, but it is {column}; cast it with .cast('float64')")
        return pa.float64()
    if not (is_.is_boolean(values) or is_.is_null(values)):
        raise TypeMismatch(f"{asked}: this needs truth values, but it is {column}; compare it with something")
    return pa.bool_()


def _sum_type(values: pa.DataType, asked: str) -> pa.DataType:
    if is_.is_decimal(values):
        return decimal_sum_type(values)
    if is_.is_floating(values):
        return pa.float64()
    if is_.is_unsigned_integer(values):
        return pa.uint64()
    if is_.is_integer(values) or is_.is_boolean(values) or is_.is_null(values):
        return pa.int64()
    raise TypeMismatch(f"{asked}: {values} cannot be added up; cast it to a number with .cast('float64')")


def decimal_sum_type(values: pa.DataType) -> pa.DataType:
    """As many digits as there are room for, in the bits that the values have."""
    return pa.decimal256(76, values.scale) if is_.is_decimal256(values) else pa.decimal128(38, values.scale)
