"""Sorts whose order nobody can see are left out.

A join, a set operation and `unique` over all columns leave the order of their rows open, and most aggregates come out
the same in any order. First and last, a slice, a sample, a shuffle and `unique` over some columns do see it. A sort is
stable, so that it shows the order of its input among equal rows.
"""

from __future__ import annotations

from argosy.frame.plan import Aggregate, Distinct, Join, Operation, Sample, SetOperation, Shuffle, Slice, Sort
from argosy.frame.rewrite.tree import with_new_inputs


def drop_sorts(plan: Operation) -> Operation:
    return _visit(plan, order_is_seen=True)


def _visit(operation: Operation, order_is_seen: bool) -> Operation:
    if isinstance(operation, Sort) and not order_is_seen:
        return _visit(operation.input, order_is_seen)
    if isinstance(operation, Sort):
        operation = _without_sorts_within(operation)
    seen = _sees_order(operation, order_is_seen)
    return with_new_inputs(operation, *(_visit(one, seen) for one in operation.inputs))


def _without_sorts_within(sort: Sort) -> Sort:
    """Rows that are equal for this sort are equal for one of fewer keys, which then leaves them as they are."""
    below = sort.input
    while isinstance(below, Sort) and set(below.by) <= set(sort.by):
        below = below.input
    return (
        sort
        if below is sort.input
        else Sort(input=below, by=sort.by, descending=sort.descending, nulls_first=sort.nulls_first)
    )


def _sees_order(operation: Operation, order_is_seen: bool) -> bool:
    """Whether the order of its input shows in what it returns."""
    if isinstance(operation, Slice | Sample | Shuffle):
        return True
    if isinstance(operation, Join | SetOperation):
        return False
    if isinstance(operation, Distinct):
        return operation.subset is not None
    if isinstance(operation, Aggregate):
        return any(agg.kind in ("first", "last") for agg in operation.aggs)
    return order_is_seen
