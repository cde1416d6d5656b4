"""A plan with the same result that costs less.

Every rewrite is a pure function from plan to plan, in a file of its own, and returns the very plan it was given where
it has nothing to do. First those that move and merge operations, round after round until nothing changes; then the
columns that nobody needs are left out. That puts projections where the others would move them away again, so that the
whole is repeated until it comes to the same plan twice.
"""

from __future__ import annotations

from argosy.errors import FrameError
from argosy.frame.plan import Operation
from argosy.frame.rewrite.drop_sorts import drop_sorts
from argosy.frame.rewrite.merge_projects import merge_projects
from argosy.frame.rewrite.order_joins import order_joins
from argosy.frame.rewrite.prune_columns import prune_columns
from argosy.frame.rewrite.push_filters import push_filters
from argosy.frame.rewrite.push_slices import push_slices
from argosy.frame.rewrite.strengthen_joins import strengthen_joins
from argosy.frame.rewrite.tree import same_plan

__all__ = ["rewrite"]

_MOVES = (merge_projects, strengthen_joins, push_filters, push_slices, drop_sorts)
_MOST_ROUNDS = 50
"""More than any plan needs: each round moves a filter past at least one operation."""


def rewrite(plan: Operation) -> Operation:
    """The plan as it should run: the same columns, the same rows, in the same order where an order was asked for."""
    try:
        return _rewritten(plan)
    except RecursionError:
        raise FrameError("the plan has too many steps in a row; call persist() after every hundred or so") from None


def _rewritten(plan: Operation) -> Operation:
    for _ in range(_MOST_ROUNDS):
        before = plan
        plan = _settled(order_joins(_settled(plan)))
        plan = merge_projects(prune_columns(plan))
        if same_plan(plan, before):
            return before
    return plan


def _settled(plan: Operation) -> Operation:
    for _ in range(_MOST_ROUNDS):
        before = plan
        for move in _MOVES:
            plan = move(plan)
        if plan is before:
            break
    return plan
