"""A schedule: placements that change while the run goes on, where that is worth the moves."""

from __future__ import annotations

import time

import numpy as np

from argosy.memory.costs import Costs
from argosy.memory.moves import Moves
from argosy.memory.placement import Slow
from argosy.memory.planning import dynamic
from argosy.memory.planning.belady import belady
from argosy.memory.planning.capacity import without
from argosy.memory.planning.exact import exact
from argosy.memory.planning.greedy import greedy
from argosy.memory.planning.highs import have_scipy
from argosy.memory.planning.polish import polish
from argosy.memory.planning.relaxation import relaxed
from argosy.memory.planning.simulate import price
from argosy.memory.planning.solved import Solved
from argosy.memory.planning.timeline import Timeline, timeline

MOST_CELLS = 24_000
"""Phases times objects that the relaxation takes on; beyond, neighbouring windows become one phase."""
WHOLE_CELLS = 4_000
"""Up to so many it is worth asking for whole objects."""


def phases(
    costs: Costs, moves: Moves, capacity: int, *, start: Slow | None = None, time_limit_seconds: float = 10.0
) -> Solved:
    """One row for each occurrence of a window: the least of predicted seconds and migration.

    Few objects: the best there is, by a dynamic program. Many: the best of a rounded relaxation, one placement for the
    whole run and Belady's schedule, each made better object by object, and the relaxation's bound. Never worse than
    the best single placement found. Objects begin where the first row has them; from `start` the way there is paid.
    The time limit is for the solver behind the relaxation; what comes before and after it is not counted.
    """
    settled = (np.asarray(costs.sizes) > capacity) | ~np.any(costs.slow > 0, axis=0)
    if start is not None:
        settled &= start
    rows = np.ones((len(costs.order), len(costs.objects)), dtype=np.bool_)
    if settled.all():
        return Solved(rows=rows, bound=price(costs, moves, rows, start=start).seconds)
    left = without(costs, settled, slow=True)
    found = _phases(left, moves, capacity, None if start is None else start[~settled], time_limit_seconds)
    rows[:, ~settled] = found.rows
    return Solved(rows=rows, bound=found.bound, notes=found.notes)


def _phases(costs: Costs, moves: Moves, capacity: int, start: Slow | None, time_limit_seconds: float) -> Solved:
    """Of the objects that fit and are ever worth it; the others stay slow."""
    num_objects = len(costs.objects)
    line = timeline(costs, most_phases=len(costs.order))
    if dynamic.is_small(line.num_phases, num_objects):
        rows = line.by_occurrence(dynamic.best_schedule(line, moves, capacity, start))
        return Solved(rows=rows, bound=price(costs, moves, rows, start=start).seconds)
    notes: list[str] = []
    if line.num_phases * num_objects > MOST_CELLS:
        line = timeline(costs, most_phases=max(MOST_CELLS // num_objects, 1))
        notes.append(f"{len(costs.order)} windows were merged into {line.num_phases} phases")
    found, bound = _search(costs, line, moves, capacity, start, time_limit_seconds, notes)
    reference = belady(costs, moves, capacity, start=start).rows
    found.append(line.by_phase(reference))
    candidates = [line.by_occurrence(polish(line, moves, capacity, rows, start)) for rows in found]
    candidates.append(reference)
    seconds = [price(costs, moves, rows, start=start).seconds for rows in candidates]
    best = int(np.argmin(seconds))
    if bound is not None:
        bound = min(bound, seconds[best])
        gap = (seconds[best] - bound) / seconds[best] if seconds[best] > 0 else 0.0
        notes.append(f"at most {gap:.2%} above the best schedule")
    return Solved(rows=candidates[best], bound=bound, notes=tuple(notes))


def _search(
    costs: Costs,
    line: Timeline,
    moves: Moves,
    capacity: int,
    start: Slow | None,
    time_limit_seconds: float,
    notes: list[str],
) -> tuple[list[Slow], float | None]:
    """Schedules to choose from, and seconds that none can beat. Merged phases have no bound for what is unmerged."""
    deadline = time.monotonic() + time_limit_seconds
    if not have_scipy():
        notes.append("SciPy is not installed: no relaxation and no bound")
        return [np.repeat(greedy(costs, capacity).rows, line.num_phases, axis=0)], None
    static = exact(costs, capacity, time_limit_seconds=time_limit_seconds / 4)
    found = [np.repeat(static.rows, line.num_phases, axis=0)]
    rows, bound = relaxed(
        line, moves, capacity, start, whole=False, time_limit_seconds=max(deadline - time.monotonic(), 0.1)
    )
    if rows is not None:
        found.append(rows)
    left = deadline - time.monotonic()
    if line.num_phases * len(costs.objects) <= WHOLE_CELLS and left > 0:
        rows, whole_bound = relaxed(line, moves, capacity, start, whole=True, time_limit_seconds=left)
        bound = max(bound, whole_bound)
        if rows is not None:
            found.append(rows)
    if not np.isfinite(bound):
        notes.append(f"the relaxation did not end within {time_limit_seconds:g} s: no bound")
        return found, None
    return found, None if line.is_merged else bound
