"""A rewritten plan has the same columns and the same rows as the plan it was made from."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest
from frame import reference
from frame.random_frames import Drawn, frames
from hypothesis import HealthCheck, given, settings

from argosy.errors import FrameError
from argosy.frame.explain import explain
from argosy.frame.plan import Operation, Project, Sort
from argosy.frame.rewrite import rewrite
from argosy.frame.rewrite.drop_sorts import drop_sorts
from argosy.frame.rewrite.merge_projects import merge_projects
from argosy.frame.rewrite.order_joins import order_joins
from argosy.frame.rewrite.prune_columns import prune_columns
from argosy.frame.rewrite.push_filters import push_filters
from argosy.frame.rewrite.push_slices import push_slices
from argosy.frame.rewrite.strengthen_joins import strengthen_joins

Rewrite = Callable[[Operation], Operation]
EACH = [
    drop_sorts,
    merge_projects,
    order_joins,
    prune_columns,
    push_filters,
    push_slices,
    strengthen_joins,
]


def result_of(plan: Operation) -> pa.Table | None:
    """None where the plan itself fails, by an overflow or a cast."""
    try:
        return reference.run(plan)
    except FrameError:
        return None


def check(drawn: Drawn, by: Rewrite) -> None:
    plan = drawn.frame.plan
    new = by(plan)
    assert new.schema.names == plan.schema.names
    assert new.schema.types == plan.schema.types
    wanted = result_of(plan)
    if wanted is None:
        return
    found = reference.run(new)
    assert found.schema.types == plan.schema.types
    assert reference.same_rows(found, wanted, in_order=drawn.ordered), explain(plan) + "\n\n" + explain(new)
    if isinstance(plan, Sort):
        assert reference.is_sorted(found, plan)


@given(frames())
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_rewriting_keeps_columns_and_rows(drawn: Drawn) -> None:
    check(drawn, rewrite)


@pytest.mark.parametrize("by", EACH)
@given(drawn=frames(max_steps=4))
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_each_rewrite_alone_keeps_columns_and_rows(by: Rewrite, drawn: Drawn) -> None:
    check(drawn, by)


@given(frames())
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
def test_rewriting_again_changes_nothing(drawn: Drawn) -> None:
    once = rewrite(drawn.frame.plan)
    assert explain(rewrite(once)) == explain(once)


@given(frames())
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_rewrite_that_has_nothing_to_do_returns_the_very_plan(drawn: Drawn) -> None:
    for by in EACH:
        settled = by(by(by(drawn.frame.plan)))
        assert explain(by(settled)) != explain(settled) or by(settled) is settled


@given(frames())
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_plan_never_ends_with_two_projections_that_could_be_one(drawn: Drawn) -> None:
    for operation in rewrite(drawn.frame.plan).walk():
        if isinstance(operation, Project) and isinstance(operation.input, Project):
            assert merge_projects(operation) is operation
