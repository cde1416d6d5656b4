"""Time against capacity: what more fast memory is worth."""

from __future__ import annotations

from collections.abc import Iterable

from argosy.memory.costs import Costs
from argosy.memory.planning.capacity import parse_capacity
from argosy.memory.planning.solve import Estimated, plan

POINTS = 21


def curve(
    estimator: Estimated | Costs, capacities: Iterable[int | str] | None = None, solver: str = "auto"
) -> list[tuple[int, float]]:
    """(capacity in bytes, predicted seconds), by capacity; from nothing to everything in 21 steps unless given.

    It never rises, whatever the solver: a plan for less memory is also one for more.
    """
    costs = estimator if isinstance(estimator, Costs) else estimator.costs
    asked = [f"{100 * i / (POINTS - 1)}%" for i in range(POINTS)] if capacities is None else list(capacities)
    best = float("inf")
    points: list[tuple[int, float]] = []
    for nbytes in sorted(parse_capacity(capacity, costs.nbytes) for capacity in asked):
        best = min(best, plan(estimator, nbytes, solver=solver).seconds)
        points.append((nbytes, best))
    return points
