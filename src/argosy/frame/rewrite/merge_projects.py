"""Two projections in a row become one, and one that changes nothing goes."""

from __future__ import annotations

from argosy.frame.expressions.nodes import Literal
from argosy.frame.plan import Operation, Project
from argosy.frame.rewrite.expressions import bare, column_name, inlined, may_be_inlined, size, uses
from argosy.frame.rewrite.tree import bottom_up

_LARGEST = 200
"""Expressions with more parts than this stay apart, so that a long chain of steps does not double and double again."""


def merge_projects(plan: Operation) -> Operation:
    return bottom_up(plan, _merge)


def _merge(operation: Operation) -> Operation:
    if not isinstance(operation, Project):
        return operation
    while isinstance(operation.input, Project) and (merged := _merged(operation, operation.input)) is not None:
        operation = merged
    unchanged = tuple(column_name(expr) for _, expr in operation.columns) == tuple(operation.input.schema.names)
    names_stay = all(column_name(expr) == name for name, expr in operation.columns)
    return operation.input if unchanged and names_stay else operation


def _merged(outer: Project, inner: Project) -> Project | None:
    """Both in one; None where that would compute something twice that is now computed once."""
    definitions = dict(inner.columns)
    used = uses([expr for _, expr in outer.columns])
    for name, times in used.items():
        if times > 1 and column_name(definitions[name]) is None and not isinstance(bare(definitions[name]), Literal):
            return None
    if not all(may_be_inlined(expr, definitions, inner.input.schema) for _, expr in outer.columns):
        return None
    columns = tuple((name, inlined(expr, definitions)) for name, expr in outer.columns)
    if any(size(expr) > _LARGEST for _, expr in columns):
        return None
    return Project(input=inner.input, columns=columns)
