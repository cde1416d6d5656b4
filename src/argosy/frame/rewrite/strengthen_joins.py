"""An outer join whose extra rows a filter throws away again becomes a narrower one.

Above a left join, `col("from_the_right") > 0` is never true for a row without a match, so an inner join will do. That
lets more filters sink and joins change places.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from argosy.frame.expressions.columns import columns_of, conjuncts
from argosy.frame.expressions.evaluate import evaluate
from argosy.frame.expressions.nodes import Expr
from argosy.frame.plan import Filter, Join, JoinHow, Operation
from argosy.frame.rewrite.expressions import cannot_fail
from argosy.frame.rewrite.tree import bottom_up

_NEEDS_RIGHT: dict[JoinHow, JoinHow] = {"left": "inner", "full": "right"}
_NEEDS_LEFT: dict[JoinHow, JoinHow] = {"right": "inner", "full": "left"}


def strengthen_joins(plan: Operation) -> Operation:
    return bottom_up(plan, _strengthen)


def _strengthen(operation: Operation) -> Operation:
    if not (isinstance(operation, Filter) and isinstance(operation.input, Join)):
        return operation
    join = operation.input
    if join.how not in ("left", "right", "full"):
        return operation
    from_left = set(join.left.schema.names) - set(join.left_on)
    from_right = set(join.schema.names[len(join.left.schema.names) :])
    how: JoinHow = join.how
    for one in conjuncts(operation.predicate):
        used = columns_of(one)
        if used and used <= from_right and _rejects_nulls(one, join.schema):
            how = _NEEDS_RIGHT.get(how, how)
        if used and used <= from_left and _rejects_nulls(one, join.schema):
            how = _NEEDS_LEFT.get(how, how)
    return operation if how == join.how else replace(operation, input=replace(join, how=how))


def _rejects_nulls(condition: Expr, schema: pa.Schema) -> bool:
    """Whether it is not true for a row in which all its columns are null."""
    if not cannot_fail(condition, schema):
        return False
    row = pa.table({name: pa.nulls(1, schema.field(name).type) for name in columns_of(condition)})
    return bool(evaluate(condition, row).to_pylist() != [True])
