"""Columns that nobody needs are left out where they first appear: in the files, below joins, sorts and shuffles.

Goes down the plan with the set of columns that are needed above. An operation always keeps one column, the narrowest,
so that its rows can be counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import singledispatch

import pyarrow as pa

from argosy.frame.expressions.columns import columns_of
from argosy.frame.expressions.nodes import col
from argosy.frame.plan import (
    Aggregate,
    Concat,
    Distinct,
    Filter,
    Join,
    Operation,
    Project,
    Repartition,
    Sample,
    Scan,
    SetOperation,
    Shuffle,
    Slice,
    Sort,
)
from argosy.frame.rewrite.expressions import selected
from argosy.frame.rewrite.tree import with_new_inputs


def prune_columns(plan: Operation) -> Operation:
    return _only(plan, plan.schema.names)


def _only(operation: Operation, needed: Iterable[str]) -> Operation:
    """The operation with exactly these columns, in the order that it has them."""
    names = _kept(operation.schema, needed)
    pruned = _prune(operation, frozenset(names))
    return pruned if pruned.schema.names == names else Project(input=pruned, columns=selected(names))


def _kept(schema: pa.Schema, needed: Iterable[str]) -> list[str]:
    """The needed ones in order; the narrowest where none is needed."""
    wanted = set(needed)
    names = [name for name in schema.names if name in wanted]
    return names or sorted(schema.names, key=lambda name: _width(schema.field(name).type))[:1]


def _width(kind: pa.DataType) -> int:
    try:
        return int(kind.bit_width)
    except ValueError:
        return 1 << 20  # no fixed width


@singledispatch
def _prune(operation: Operation, _needed: frozenset[str]) -> Operation:
    """The operation with at least these columns. What is in memory stays as it is: to select from it costs nothing."""
    return operation


@_prune.register
def _(operation: Scan, needed: frozenset[str]) -> Operation:
    names = tuple(name for name in operation.schema.names if name in needed)
    return operation if names == tuple(operation.schema.names) else replace(operation, columns=names)


@_prune.register
def _(operation: Project, needed: frozenset[str]) -> Operation:
    columns = tuple((name, expr) for name, expr in operation.columns if name in needed)
    used = frozenset().union(*(columns_of(expr) for _, expr in columns))
    below = _prune(operation.input, frozenset(_kept(operation.input.schema, used)))
    if below is operation.input and len(columns) == len(operation.columns):
        return operation
    return Project(input=below, columns=columns)


@_prune.register
def _(operation: Filter, needed: frozenset[str]) -> Operation:
    return with_new_inputs(operation, _only(operation.input, needed | columns_of(operation.predicate)))


@_prune.register
def _(operation: Sort, needed: frozenset[str]) -> Operation:
    return with_new_inputs(operation, _only(operation.input, needed | set(operation.by)))


@_prune.register(Slice)
@_prune.register(Sample)
@_prune.register(Shuffle)
def _(operation: Operation, needed: frozenset[str]) -> Operation:
    return with_new_inputs(operation, *(_only(one, needed) for one in operation.inputs))


@_prune.register
def _(operation: Repartition, needed: frozenset[str]) -> Operation:
    return with_new_inputs(operation, _only(operation.input, needed | set(operation.by or ())))


@_prune.register
def _(operation: Concat, needed: frozenset[str]) -> Operation:
    return with_new_inputs(operation, _only(operation.first, needed), _only(operation.second, needed))


@_prune.register
def _(operation: SetOperation, _needed: frozenset[str]) -> Operation:
    """Needs all columns, for rows are equal by all of them."""
    names = operation.schema.names
    return with_new_inputs(operation, _only(operation.left, names), _only(operation.right, names))


@_prune.register
def _(operation: Distinct, needed: frozenset[str]) -> Operation:
    keys = operation.schema.names if operation.subset is None else operation.subset
    return with_new_inputs(operation, _only(operation.input, needed | set(keys)))


@_prune.register
def _(operation: Aggregate, needed: frozenset[str]) -> Operation:
    aggs = tuple(agg for agg in operation.aggs if agg.name in needed)
    used = {agg.column for agg in aggs if agg.column is not None}
    below = _only(operation.input, used | set(operation.keys))
    if below is operation.input and len(aggs) == len(operation.aggs):
        return operation
    return replace(operation, input=below, aggs=aggs)


@_prune.register
def _(operation: Join, needed: frozenset[str]) -> Operation:
    """A column of the right may need its suffix no longer; a projection gives it the name that it had."""
    left_width = len(operation.left.schema.names)
    from_right = [name for name in operation.right.schema.names if name not in operation.right_on]
    old_names = dict(zip(from_right, operation.schema.names[left_width:], strict=False))
    left = _only(operation.left, needed | set(operation.left_on))
    right_needed = {name for name, old in old_names.items() if old in needed}
    right = _only(operation.right, right_needed | set(operation.right_on))
    join = with_new_inputs(operation, left, right)
    kept = [name for name in right.schema.names if name not in operation.right_on]
    names = [*left.schema.names, *(old_names[name] for name in kept)]
    if join.schema.names == names:
        return join
    renamed = zip(names, join.schema.names, strict=True)
    return Project(input=join, columns=tuple((old, col(new)) for old, new in renamed))
