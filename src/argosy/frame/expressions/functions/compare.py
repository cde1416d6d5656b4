"""Comparisons. NaN compares as IEEE 754 says: it equals nothing and is neither smaller nor larger than anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from argosy.frame.expressions.common import as_decimal, common_type, is_comparable
from argosy.frame.expressions.functions.rule import Bind, NoRule, Rule, named
from argosy.frame.expressions.values import Values, settled_values


def compared_type(types: Sequence[pa.DataType]) -> pa.DataType:
    """The type in which values of these types are compared, without loss."""
    kind = reduce(lambda left, right: left if left is None else common_type(left, right), types)
    if kind is None or not (is_comparable(kind) or is_.is_null(kind)):
        raise NoRule(f"{named(*types)} cannot be compared; cast one of them with .cast(...)")
    if is_.is_int64(kind) and any(is_.is_uint64(one) for one in types):
        return as_decimal(pa.uint64())
    return pa.bool_() if is_.is_null(kind) else kind


def _comparing(run: Callable[..., Any]) -> Bind:
    def bind(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
        return Rule(takes=(compared_type(types),) * len(types), gives=pa.bool_(), run=run)

    return bind


def _bounding(beyond: Callable[..., Any]) -> Bind:
    def bind(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
        kind = reduce(lambda left, right: left if left is None else common_type(left, right), types)
        if kind is None or not (is_comparable(kind) or is_.is_null(kind)):
            raise NoRule(f"{named(*types)} cannot be compared; cast one of them with .cast(...)")
        return Rule(
            takes=(kind, kind), gives=kind, run=lambda value, bound: pc.if_else(beyond(value, bound), bound, value)
        )

    return bind


def _between(value: Any, low: Any, high: Any) -> Any:
    return pc.and_kleene(pc.greater_equal(value, low), pc.less_equal(value, high))


def _is_in(types: Sequence[pa.DataType], options: tuple[Any, ...]) -> Rule:
    (values,) = options
    kind, found = member_values(types[0], values)
    has_null = found.null_count > 0
    wanted = found.drop_null()

    def run(value: Any) -> Any:
        inside = pc.is_in(_one_zero(value), value_set=wanted)
        if has_null:
            inside = pc.if_else(inside, inside, pa.scalar(None, pa.bool_()))
        return pc.if_else(pc.is_valid(value), inside, pa.scalar(None, pa.bool_()))

    return Rule(takes=(kind,), gives=pa.bool_(), run=run)


def member_values(column: pa.DataType, values: Values) -> tuple[pa.DataType, pa.Array]:
    """The type in which a column is looked up among the values, and the values in it, without NaN."""
    there = settled_values(values, column) if values.weak else values.array.type
    kind = compared_type((column, there))
    if is_.is_decimal32(kind) or is_.is_decimal64(kind):  # Arrow looks up none of these
        kind = pa.decimal128(kind.precision, kind.scale)
    if values.weak and is_.is_decimal(kind):
        found = pa.array(values.array.to_pylist(), kind)
    else:
        found = values.array.cast(kind, safe=not is_.is_floating(kind))
    if is_.is_floating(kind):
        found = _one_zero(found.filter(pc.fill_null(pc.invert(pc.is_nan(found)), True)))
    return kind, found


def _one_zero(value: Any) -> Any:
    """Without negative zeros, which equal zero but do not look the same."""
    return pc.add(value, pa.scalar(0.0, value.type)) if is_.is_floating(value.type) else value


FUNCTIONS: dict[str, Bind] = {
    "==": _comparing(pc.equal),
    "!=": _comparing(pc.not_equal),
    "<": _comparing(pc.less),
    "<=": _comparing(pc.less_equal),
    ">": _comparing(pc.greater),
    ">=": _comparing(pc.greater_equal),
    "between": _comparing(_between),
    "is_in": _is_in,
    "at_least": _bounding(pc.less),
    "at_most": _bounding(pc.greater),
}
