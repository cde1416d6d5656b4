"""What type an expression has, before it is computed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import pyarrow as pa

from argosy.arguments import show
from argosy.errors import TypeMismatch, UnknownColumn
from argosy.frame.expressions.casts import cast_rule
from argosy.frame.expressions.common import common_type, plain
from argosy.frame.expressions.functions import FUNCTIONS
from argosy.frame.expressions.functions.rule import NoRule, Rule, named
from argosy.frame.expressions.literals import settled_type
from argosy.frame.expressions.nodes import Aggregation, Alias, Call, Cases, Cast, Column, Expr, Literal


def type_of(expr: Expr, schema: pa.Schema) -> pa.DataType:
    """The type of the column that `evaluate` gives for a table of this schema.

    Raises UnknownColumn, and TypeMismatch where an operation has no meaning for the types it gets.
    """
    match expr:
        case Column():
            return schema.field(column_index(expr.name, schema)).type
        case Literal():
            return expr.scalar.type
        case Alias():
            return type_of(expr.input, schema)
        case Aggregation():
            raise TypeMismatch(
                f"{expr!r} makes one value of many rows; compute it with group_by(...).agg(...) or agg(...)"
            )
    kinds = [type_of(one, schema) for one in expr.inputs]
    match expr:
        case Call() | Cast():
            return rule_of(expr, kinds).gives
        case Cases():
            return chosen_type(expr, kinds)
    raise TypeError(f"{type(expr).__name__} is not an expression that has a type")


def column_index(name: str, schema: pa.Schema) -> int:
    index: int = schema.get_field_index(name)
    if index < 0:
        raise UnknownColumn(name, schema.names)
    return index


def rule_of(expr: Call | Cast, kinds: Sequence[pa.DataType]) -> Rule:
    """How to compute the operation for arguments that have these types."""
    try:
        if isinstance(expr, Cast):
            return cast_rule(kinds[0], expr.to)
        return FUNCTIONS[expr.op](settled(expr.args, kinds), expr.options)
    except NoRule as error:
        raise TypeMismatch(f"{show(expr, 300)}: {error}") from None


def chosen_type(expr: Cases, kinds: Sequence[pa.DataType]) -> pa.DataType:
    """The type of a choice whose inputs have these types."""
    for condition, kind in zip(expr.inputs[:-1:2], kinds[:-1:2], strict=True):
        if plain(kind) not in (pa.bool_(), pa.null()):
            raise TypeMismatch(
                f"{show(expr, 300)}: the condition {show(condition, 300)} is {kind}, not bool; "
                "compare it with something"
            )
    values = [*expr.inputs[1::2], expr.default]
    there = [*kinds[1::2], kinds[-1]]
    common = reduce(lambda left, right: left if left is None else common_type(left, right), settled(values, there))
    if common is None:
        raise TypeMismatch(
            f"{show(expr, 300)}: {named(*there)} have no type in common; cast them to one type with .cast(...)"
        )
    return plain(common)


def settled(args: Sequence[Expr], kinds: Sequence[pa.DataType]) -> list[pa.DataType]:
    """The types of arguments once plain numbers have taken the type of what stands beside them."""
    firm = [kind for arg, kind in zip(args, kinds, strict=True) if not (isinstance(arg, Literal) and arg.weak)]
    beside = reduce(lambda left, right: common_type(left, right) or left, firm, pa.null())
    return [
        settled_type(arg.scalar, beside) if isinstance(arg, Literal) and arg.weak else kind
        for arg, kind in zip(args, kinds, strict=True)
    ]
