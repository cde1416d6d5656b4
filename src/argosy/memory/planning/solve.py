"""From costs and a capacity to a plan, by the solver of one's choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np

from argosy import arguments
from argosy.memory.costs import Costs
from argosy.memory.moves import Moves
from argosy.memory.placement import Slow, as_placement
from argosy.memory.planning.belady import belady
from argosy.memory.planning.capacity import check_fits, columns_of, parse_capacity, without
from argosy.memory.planning.exact import exact
from argosy.memory.planning.exhaustive import exhaustive
from argosy.memory.planning.greedy import greedy
from argosy.memory.planning.highs import have_scipy
from argosy.memory.planning.online import Hysteresis, RecentlyUsed
from argosy.memory.planning.phases import phases
from argosy.memory.planning.plan import Plan
from argosy.memory.planning.policy import Policy
from argosy.memory.planning.simulate import price, simulate
from argosy.memory.planning.solved import Solved


class Estimated(Protocol):
    """What a plan needs of an estimator."""

    @property
    def costs(self) -> Costs: ...
    @property
    def fast(self) -> str: ...
    @property
    def slow(self) -> str: ...
    @property
    def moves(self) -> Moves | None: ...


def _learned(costs: Costs) -> Policy:
    from argosy.memory.learning import learned_policy

    return learned_policy(costs=costs)


_STATIC = ("greedy", "exact", "exhaustive")
_SCHEDULED = ("phases", "belady")
_ONLINE: dict[str, Callable[[Costs], Policy]] = {
    "lru": lambda _: RecentlyUsed(),
    "hysteresis": lambda _: Hysteresis(),
    "learned": _learned,
}
SOLVERS = ("auto", *_STATIC, *_SCHEDULED, *_ONLINE)


def plan(
    estimator: Estimated | Costs,
    capacity: int | str,
    *,
    solver: str = "auto",
    must_be_fast: Iterable[str] = (),
    moves: Moves | None = None,
    time_limit_seconds: float = 10.0,
) -> Plan:
    """The placement of least predicted time that keeps the capacity: bytes, "8GiB", or "25%" of all the objects.

    One placement for the whole run: "greedy" by density, "exact" (proven, through SciPy), "exhaustive" (up to 20
    objects); "auto" is exact, or greedy where there is no SciPy. Placements that change in the run, moves paid for:
    "phases" (knows the whole run, and where it cannot prove the best says how far off), "belady" (the reference), and
    policies that see the past and the name of the window that comes: "lru", "hysteresis", "learned", of which the last
    knows what windows of a name cost. Objects begin where they are in the first window. `moves` is what moving costs,
    if not what the estimator measured. Raises `CapacityTooSmall` if what must be fast does not fit.
    """
    if arguments.text("solver", solver) not in SOLVERS:
        raise ValueError(f"there is no solver {arguments.show(solver)}; there are: {', '.join(SOLVERS)}")
    if moves is not None:
        arguments.instance("moves", moves, Moves, "an argosy.memory.moves.Moves")
    time_limit_seconds = arguments.number("time_limit_seconds", time_limit_seconds, above=0, infinite=True)
    if isinstance(estimator, Costs):
        costs, fast, slow = estimator, "fast", "slow"
    else:
        if isinstance(estimator, type) or not isinstance(getattr(estimator, "costs", None), Costs):
            wanted = "what calibrate() gave, or costs"
            raise TypeError(f"estimator must be {wanted}, not {arguments.show(estimator)}")
        costs, fast, slow = estimator.costs, estimator.fast, estimator.slow
        moves = moves if moves is not None else estimator.moves
    notes: tuple[str, ...] = ()
    if solver == "auto":
        solver = "exact" if have_scipy() else "greedy"
        if solver == "greedy":
            notes = ("greedy, as SciPy is not installed: `pip install 'argosy[memory]'` for the proven best",)
    nbytes = parse_capacity(capacity, costs.nbytes)
    must = columns_of(must_be_fast, costs.objects)
    room = check_fits(costs, must, nbytes)
    free = without(costs, must)

    solved = _solve(free, room, solver, moves, time_limit_seconds)
    rows = np.zeros((len(solved.rows), len(costs.objects)), dtype=np.bool_)
    rows[:, ~must] = solved.rows
    return Plan(
        placement=as_placement(rows[0], costs.objects, fast=fast, slow=slow),
        seconds=_seconds(free, solved.rows, solver, moves),
        solver=solver,
        capacity=nbytes,
        nbytes_fast=int((~rows @ np.asarray(costs.sizes, dtype=np.int64)).max(initial=0)),
        sizes=dict(zip(costs.objects, costs.sizes, strict=True)),
        schedule=None if solver in _STATIC else _changes(rows, costs.objects, fast, slow),
        bound=solved.bound,
        notes=notes + solved.notes,
    )


def _solve(costs: Costs, room: int, solver: str, moves: Moves | None, time_limit_seconds: float) -> Solved:
    if solver == "greedy":
        return greedy(costs, room)
    if solver == "exact":
        return exact(costs, room, time_limit_seconds=time_limit_seconds)
    if solver == "exhaustive":
        return exhaustive(costs, room)
    moves = _needed(moves, solver)
    if solver == "phases":
        return phases(costs, moves, room, time_limit_seconds=time_limit_seconds)
    if solver == "belady":
        return belady(costs, moves, room)
    return Solved(rows=simulate(costs, moves, room, _ONLINE[solver](costs)).placements)


def _seconds(costs: Costs, rows: Slow, solver: str, moves: Moves | None) -> float:
    if solver in _STATIC:
        return float(costs.total(rows)[0])
    return price(costs, _needed(moves, solver), rows).seconds


def _needed(moves: Moves | None, solver: str) -> Moves:
    if moves is None:
        raise ValueError(
            f"solver {solver!r} moves objects during the run and must know what that costs; "
            "give moves=Moves(fetch_seconds_per_byte=..., evict_seconds_per_byte=...)"
        )
    return moves


def _changes(rows: Slow, objects: tuple[str, ...], fast: str, slow: str) -> tuple[tuple[int, dict[str, str]], ...]:
    """(window, object to new tier) wherever a row differs from the one before."""
    found: list[tuple[int, dict[str, str]]] = []
    for window in range(1, len(rows)):
        changed = np.flatnonzero(rows[window] != rows[window - 1])
        if len(changed):
            found.append((window, {objects[o]: slow if rows[window, o] else fast for o in changed}))
    return tuple(found)
