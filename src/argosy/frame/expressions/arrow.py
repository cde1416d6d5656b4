"""Predicates in Arrow's own words, so that a file scan can leave out rows and whole row groups."""

from __future__ import annotations

from functools import reduce
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import Any, TypeGuard

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from argosy.frame.expressions.casts import convert
from argosy.frame.expressions.common import plain
from argosy.frame.expressions.functions.compare import member_values
from argosy.frame.expressions.literals import settle
from argosy.frame.expressions.nodes import Alias, Call, Column, Expr, Literal
from argosy.frame.expressions.types import rule_of, settled, type_of

COMPARISONS = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def to_arrow(expr: Expr, schema: pa.Schema) -> pc.Expression | None:
    """The predicate for a dataset of this schema, or None where Arrow has no faithful word for it.

    A scan with it gives the rows for which the expression is true. Statistics of files leave NaN out, so that Arrow
    would take a row group for settled in which a NaN says otherwise: a comparison of floats is translated only where
    NaN fails it, not below `~` and not as `!=`.
    """
    return _translated(expr, schema, positive=True)


def _translated(expr: Expr, schema: pa.Schema, positive: bool) -> pc.Expression | None:
    """`positive` is false where the rows that fail this part may be those that pass the whole."""
    match expr:
        case Alias():
            return _translated(expr.input, schema, positive)
        case Literal() | Column() if type_of(expr, schema) == pa.bool_():
            return _operand(expr, pa.bool_(), pa.bool_(), schema)
        case Call(op="&" | "|"):
            combine = and_ if expr.op == "&" else or_
            sides = [_translated(one, schema, positive) for one in expr.args]
            return None if any(side is None for side in sides) else reduce(combine, sides)
        case Call(op="~"):
            inner = _translated(expr.args[0], schema, positive=False)
            return None if inner is None else ~inner
        case Call(op="is_null" | "is_not_null", args=(Column() as column,)) if _is_simple_column(column, schema):
            field = pc.field(column.name)
            return field.is_null() if expr.op == "is_null" else field.is_valid()
        case Call(op="is_in", args=(Column() as column,)) if positive and _is_simple_column(column, schema):
            return _membership(expr, column, schema)
        case Call(op="==" | "!=" | "<" | "<=" | ">" | ">=" | "between"):
            return _comparison(expr, schema, positive)
    return None


def _is_simple_column(expr: Expr, schema: pa.Schema) -> TypeGuard[Column]:
    """Whether it is a column of a type that Arrow's own expressions know what to do with."""
    if not isinstance(expr, Column):
        return False
    kind = type_of(expr, schema)
    return not (is_.is_null(kind) or is_.is_float16(kind) or is_.is_nested(kind) or is_.is_run_end_encoded(kind))


def _comparison(expr: Call, schema: pa.Schema, positive: bool) -> pc.Expression | None:
    args = [one for one in expr.args if isinstance(one, Literal) or _is_simple_column(one, schema)]
    if len(args) < len(expr.args):
        return None
    kinds = [type_of(one, schema) for one in expr.args]
    takes = rule_of(expr, kinds).takes
    if is_.is_floating(takes[0]) and (not positive or expr.op == "!="):
        return None
    triples = zip(args, settled(expr.args, kinds), takes, strict=True)
    sides: list[Any] = [_operand(one, kind, to, schema) for one, kind, to in triples]
    if any(side is None for side in sides):
        return None
    first, *others = sides
    if expr.op == "between":
        low, high = others
        return (first >= low) & (first <= high)
    return COMPARISONS[expr.op](first, others[0])


def _operand(
    expr: Column | Literal, settled_kind: pa.DataType, to: pa.DataType, schema: pa.Schema
) -> pc.Expression | None:
    """A column or a value as the type in which it is compared."""
    if isinstance(expr, Literal):
        scalar = settle(expr.scalar, settled_kind) if expr.weak else expr.scalar
        return pc.scalar(convert(scalar, to))
    kind, field = type_of(expr, schema), pc.field(expr.name)
    if kind.equals(to):
        return field
    return field.cast(to) if _casts_alike(plain(kind), to) else None


def _casts_alike(kind: pa.DataType, to: pa.DataType) -> bool:
    """Whether Arrow may take a cast out of a comparison, as it does when it can, and still mean the same."""
    exact = all(is_.is_integer(one) or is_.is_decimal(one) for one in (kind, to))
    return exact or bool(kind.equals(to))


def _membership(expr: Call, column: Column, schema: pa.Schema) -> pc.Expression | None:
    (values,) = expr.options
    kind, found = member_values(type_of(column, schema), values)
    found = found.drop_null()
    if is_.is_floating(kind):
        found = pa.concat_arrays([found, pc.negate(found.filter(pc.equal(found, 0)))])  # both zeros look alike to us
    operand = _operand(column, kind, kind, schema)
    return None if operand is None else operand.isin(found)
