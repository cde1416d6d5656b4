"""Rows are cut off before columns are computed, and two cuts become one."""

from __future__ import annotations

from argosy.frame.plan import Operation, Project, Slice
from argosy.frame.rewrite.tree import bottom_up


def push_slices(plan: Operation) -> Operation:
    return bottom_up(plan, _push)


def _push(operation: Operation) -> Operation:
    if not isinstance(operation, Slice):
        return operation
    below = operation.input
    if isinstance(below, Project):
        cut = Slice(input=below.input, offset=operation.offset, length=operation.length)
        return Project(input=_push(cut), columns=below.columns)
    if isinstance(below, Slice) and below.offset >= 0 and operation.offset >= 0:
        left = None if below.length is None else max(below.length - operation.offset, 0)
        lengths = [length for length in (left, operation.length) if length is not None]
        return _push(
            Slice(input=below.input, offset=below.offset + operation.offset, length=min(lengths, default=None))
        )
    return operation
