"""From the arguments of `sort` to operations: keys that are expressions become columns for as long as it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from argosy import arguments
from argosy.frame.arguments import require_columns, require_key, row_type, unused
from argosy.frame.expressions.nodes import Expr, col
from argosy.frame.plan import Operation, Project, Sort


def sorted_by(
    plan: Operation, by: Sequence[str | Expr], descending: bool | Sequence[bool], nulls_first: bool
) -> Operation:
    """The rows of the plan in this order, with the columns that they have."""
    if not by:
        raise ValueError("sort() needs a column or an expression to sort by")
    keys = [_key(plan, key) for key in by]
    directions = _directions(descending, len(keys))
    own = [(name, col(name)) for name in plan.schema.names]
    names = iter(unused("sort_key_", len(keys), plan.schema.names))
    computed = [(next(names), key) for key in keys if isinstance(key, Expr)]
    new = iter(computed)
    sort = Sort(
        input=Project(input=plan, columns=(*own, *computed)) if computed else plan,
        by=tuple(next(new)[0] if isinstance(key, Expr) else key for key in keys),
        descending=directions,
        nulls_first=arguments.flag("sort(): nulls_first", nulls_first),
    )
    return Project(input=sort, columns=tuple(own)) if computed else sort


def _directions(given: Any, count: int) -> tuple[bool, ...]:
    name, wanted = "sort(): descending", "True, False or a list with one of them for each key"
    given = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        return (arguments.flag(name, given),) * count
    directions = tuple(arguments.flag(f"{name}[{at}]", one) for at, one in enumerate(given))
    if len(directions) != count:
        raise ValueError(f"{name} must be {wanted}; sort() has {count} keys, but it is {arguments.show(given)}")
    return directions


def _key(plan: Operation, key: str | Expr) -> str | Expr:
    """The name of the column where the key is one."""
    if not isinstance(key, Expr):
        require_columns("sort", [key], plan.schema)
        require_key("sort", key, plan.schema.field(key).type)
        return key
    require_key("sort", repr(key), row_type("sort", key, plan.schema))
    return next((name for name in plan.schema.names if key.same_as(col(name))), key)
