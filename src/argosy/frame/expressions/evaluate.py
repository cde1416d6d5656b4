"""Computes expressions on one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from argosy.arguments import show
from argosy.errors import FrameError
from argosy.frame.expressions.casts import convert
from argosy.frame.expressions.functions.rule import Rule
from argosy.frame.expressions.literals import settle
from argosy.frame.expressions.nodes import Alias, Call, Cases, Cast, Column, Expr, Literal
from argosy.frame.expressions.types import chosen_type, column_index, rule_of, settled, type_of


def evaluate(expr: Expr, table: pa.Table) -> pa.ChunkedArray:
    """The column that the expression describes, one value for each row of the table, of type `type_of`.

    A bare column is the table's own, not a copy. What goes wrong with a value, such as an overflow, raises FrameError
    that names the expression.
    """
    type_of(expr, table.schema)
    return _column(expr, table)


def _column(expr: Expr, table: pa.Table) -> pa.ChunkedArray:
    value = _value(expr, table)
    return _repeated(value, table.num_rows) if isinstance(value, pa.Scalar) else value


def _value(expr: Expr, table: pa.Table) -> Any:
    """A chunked array, or a scalar where all rows have the same value."""
    match expr:
        case Column():
            return table.column(column_index(expr.name, table.schema))
        case Literal():
            return expr.scalar
        case Alias():
            return _value(expr.input, table)
        case Call() | Cast():
            values = [_value(one, table) for one in expr.inputs]
            return _computed(expr, rule_of(expr, [value.type for value in values]), values)
        case Cases():
            return _chosen(expr, table)
    raise TypeError(f"{type(expr).__name__} is not an expression that can be computed")


def _computed(expr: Call | Cast, rule: Rule, values: Sequence[Any]) -> Any:
    if rule.gives == pa.null():
        return pa.scalar(None)
    try:
        values = _settled(expr.inputs, values)
        values = [convert(value, kind) for value, kind in zip(values, rule.takes, strict=True)]
        if all(isinstance(value, pa.Scalar) for value in values):
            return rule.run(*(_repeated(value, 1) for value in values))[0]
        return rule.run(*values)
    except pa.ArrowException as error:
        raise _failed(expr, rule.gives, error) from error


def _settled(args: Sequence[Expr], values: Sequence[Any]) -> list[Any]:
    """The values, with plain numbers as the type that they take beside the others."""
    kinds = settled(args, [value.type for value in values])
    return [
        settle(value, kind) if isinstance(arg, Literal) and arg.weak else value
        for arg, value, kind in zip(args, values, kinds, strict=True)
    ]


def _failed(expr: Expr, kind: pa.DataType, error: pa.ArrowException) -> FrameError:
    if "overflow" in str(error):
        is_wide = pa.types.is_integer(kind) and kind.bit_width == 64
        wider = ".cast('float64')" if is_wide else ".cast('int64') or .cast('float64')"
        return FrameError(
            f"{show(expr, 300)}: a result does not fit into {kind}; cast to a wider type first, such as {wider}"
        )
    return FrameError(f"{show(expr, 300)}: {error}; check the values, or replace those that do not fit with when(...)")


def _chosen(expr: Cases, table: pa.Table) -> Any:
    conditions = [_column(one, table) for one, _ in expr.branches]
    branches = [*(value for _, value in expr.branches), expr.default]
    try:
        values = [_value(one, table) for one in branches]
    except FrameError:
        return _chosen_apart(expr, conditions, branches, table)
    kinds = [condition.type for condition in conditions]
    common = chosen_type(expr, _interleaved(kinds, [value.type for value in values]))
    if common == pa.null():
        return pa.scalar(None)
    try:
        *firsts, result = (convert(value, common) for value in _settled(branches, values))
    except pa.ArrowException as error:
        raise _failed(expr, common, error) from error
    for condition, value in zip(reversed(conditions), reversed(firsts), strict=True):
        result = pc.if_else(_is_true(condition), value, result)
    return result


def _chosen_apart(expr: Cases, conditions: Sequence[Any], branches: Sequence[Expr], table: pa.Table) -> Any:
    """Each value computed only on the rows that take it: for values that fail on others."""
    left = pa.chunked_array([pa.repeat(True, table.num_rows)])
    masks = []
    for condition in conditions:
        taken = pc.and_(left, _is_true(condition))
        masks.append(taken)
        left = pc.and_not(left, taken)
    masks.append(left)
    parts = [_column(one, table.filter(mask)) for one, mask in zip(branches, masks, strict=True)]
    common = chosen_type(expr, _interleaved([one.type for one in conditions], [part.type for part in parts]))
    order = np.concatenate([np.flatnonzero(mask.to_numpy()) for mask in masks])
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    joined = pa.chunked_array([chunk for part in parts for chunk in convert(part, common).chunks], common)
    return joined.take(pa.array(back))


def _interleaved(conditions: Sequence[pa.DataType], values: Sequence[pa.DataType]) -> list[pa.DataType]:
    pairs = [kind for pair in zip(conditions, values[:-1], strict=True) for kind in pair]
    return [*pairs, values[-1]]


def _is_true(condition: Any) -> Any:
    return pc.fill_null(convert(condition, pa.bool_()), False)


def _repeated(value: pa.Scalar, length: int) -> pa.ChunkedArray:
    if not value.is_valid:
        return pa.chunked_array([pa.nulls(length, value.type)])
    if length == 0:  # Arrow cannot repeat a list no times
        return pa.chunked_array([], value.type)
    return pa.chunked_array([pa.repeat(value, length)], value.type)
