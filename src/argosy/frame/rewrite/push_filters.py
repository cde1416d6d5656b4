"""Rows are filtered as early as can be: in the files, before joins, shuffles and sorts.

A filter is taken apart at its `&`s and every condition sinks on its own. What may fail (a cast, an overflow) never
sinks below an operation that leaves rows out, since it might then meet a row it would not have seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch

from argosy.frame.expressions.columns import columns_of, conjunction, conjuncts
from argosy.frame.expressions.nodes import Expr
from argosy.frame.plan import (
    Aggregate,
    Concat,
    Distinct,
    Filter,
    Join,
    Operation,
    Project,
    Repartition,
    Scan,
    SetOperation,
    Sort,
)
from argosy.frame.rewrite.expressions import cannot_fail, inlined, may_be_inlined, same_for_equal_keys, size
from argosy.frame.rewrite.filters_of_joins import filters_of_join
from argosy.frame.rewrite.tree import bottom_up

_LARGEST = 60
"""A condition with more parts than this is not computed anew below a projection."""

Sunk = tuple[Operation, list[Expr]]
"""The operation with conditions below it, and those that stay above."""


def push_filters(plan: Operation) -> Operation:
    return bottom_up(plan, _push)


def _push(operation: Operation) -> Operation:
    if not isinstance(operation, Filter):
        return operation
    conditions = conjuncts(operation.predicate)
    below, above = _sink(operation.input, conditions)
    if len(above) == len(conditions):
        return operation
    return Filter(input=below, predicate=conjunction(above)) if above else below


def _filtered(operation: Operation, conditions: Sequence[Expr]) -> Operation:
    return _push(Filter(input=operation, predicate=conjunction(conditions))) if conditions else operation


@singledispatch
def _sink(below: Operation, conditions: Sequence[Expr]) -> Sunk:
    return below, list(conditions)


@_sink.register
def _(below: Scan, conditions: Sequence[Expr]) -> Sunk:
    if below.predicate is None:
        return replace(below, predicate=conjunction(conditions)), []
    safe, above = _apart(conditions, [one for one in conditions if cannot_fail(one, below.schema)])
    if not safe:
        return below, above
    return replace(below, predicate=conjunction([*conjuncts(below.predicate), *safe])), above


@_sink.register
def _(below: Filter, conditions: Sequence[Expr]) -> Sunk:
    safe, above = _apart(conditions, [one for one in conditions if cannot_fail(one, below.schema)])
    if not safe:
        return below, above
    return _filtered(below.input, [*conjuncts(below.predicate), *safe]), above


@_sink.register
def _(below: Project, conditions: Sequence[Expr]) -> Sunk:
    definitions = dict(below.columns)
    new = {
        id(one): inlined(one, definitions) for one in conditions if may_be_inlined(one, definitions, below.input.schema)
    }
    sinking, above = _apart(
        conditions, [one for one in conditions if id(one) in new and size(new[id(one)]) <= _LARGEST]
    )
    if not sinking:
        return below, above
    return replace(below, input=_filtered(below.input, [new[id(one)] for one in sinking])), above


@_sink.register(Sort)
@_sink.register(Repartition)
def _(below: Sort | Repartition, conditions: Sequence[Expr]) -> Sunk:
    return replace(below, input=_filtered(below.input, conditions)), []


@_sink.register
def _(below: Concat, conditions: Sequence[Expr]) -> Sunk:
    return Concat(first=_filtered(below.first, conditions), second=_filtered(below.second, conditions)), []


@_sink.register
def _(below: SetOperation, conditions: Sequence[Expr]) -> Sunk:
    sinking, above = _by_keys(below, conditions, below.schema.names)
    if not sinking:
        return below, above
    return replace(below, left=_filtered(below.left, sinking), right=_filtered(below.right, sinking)), above


@_sink.register
def _(below: Distinct, conditions: Sequence[Expr]) -> Sunk:
    sinking, above = _by_keys(below, conditions, below.schema.names if below.subset is None else below.subset)
    return (replace(below, input=_filtered(below.input, sinking)), above) if sinking else (below, above)


@_sink.register
def _(below: Aggregate, conditions: Sequence[Expr]) -> Sunk:
    sinking, above = _by_keys(below, conditions, below.keys)
    return (replace(below, input=_filtered(below.input, sinking)), above) if sinking else (below, above)


@_sink.register
def _(below: Join, conditions: Sequence[Expr]) -> Sunk:
    to_left, to_right, above = filters_of_join(below, conditions)
    if len(above) == len(conditions):
        return below, above
    return replace(below, left=_filtered(below.left, to_left), right=_filtered(below.right, to_right)), above


def _by_keys(below: Operation, conditions: Sequence[Expr], keys: Sequence[str]) -> tuple[list[Expr], list[Expr]]:
    """Conditions that hold for a whole group of equal rows or for none of it, and the others.

    A condition on no column at all stays: an aggregate without keys has its one row also when its input has none.
    """
    sinking = [
        one
        for one in conditions
        if columns_of(one)
        and columns_of(one) <= set(keys)
        and cannot_fail(one, below.schema)
        and same_for_equal_keys(one, below.schema)
    ]
    return _apart(conditions, sinking)


def _apart(conditions: Sequence[Expr], sinking: list[Expr]) -> tuple[list[Expr], list[Expr]]:
    """Those that sink, and all others."""
    chosen = {id(one) for one in sinking}
    return sinking, [one for one in conditions if id(one) not in chosen]
