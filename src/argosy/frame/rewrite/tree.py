"""Going through a plan without touching what does not change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from argosy.frame.expressions.nodes import Expr
from argosy.frame.plan import Operation


def with_new_inputs(operation: Operation, *inputs: Operation) -> Operation:
    """The operation on these inputs; the operation itself where they are those it has."""
    if all(new is old for new, old in zip(inputs, operation.inputs, strict=True)):
        return operation
    return operation.with_inputs(*inputs)


def bottom_up(plan: Operation, rule: Callable[[Operation], Operation]) -> Operation:
    """The rule applied to every operation, inputs first. A part that is used twice stays one object."""
    done: dict[int, Operation] = {}

    def visit(operation: Operation) -> Operation:
        if id(operation) not in done:
            done[id(operation)] = rule(with_new_inputs(operation, *map(visit, operation.inputs)))
        return done[id(operation)]

    return visit(plan)


def same_plan(one: Any, other: Any) -> bool:
    """Whether two plans say the same: equal operations on the very same tables, files and kept frames."""
    if one is other:
        return True
    if isinstance(one, Expr):
        return one.same_as(other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same_plan, one, other))
    if isinstance(one, Operation):
        return type(one) is type(other) and all(
            same_plan(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)
        )
    return isinstance(one, str | int | float) and bool(one == other)
