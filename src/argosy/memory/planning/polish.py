"""A schedule made better one object at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.memory.moves import Moves
from argosy.memory.placement import Slow
from argosy.memory.planning.timeline import Timeline


def polish(line: Timeline, moves: Moves, capacity: int, schedule: Slow, start: Slow | None, *, sweeps: int = 4) -> Slow:
    """Give each object in turn the best times to be fast, while the others stay as they are.

    Never worse than before, and keeps the capacity if `schedule` did. Stops when a sweep changes nothing.
    """
    costs, sizes = line.costs, np.asarray(line.costs.sizes, dtype=np.int64)
    rows = schedule.copy()
    phase_of = line.phase_of
    load = costs.base + (costs.slow * rows[phase_of]).sum(axis=1)
    room = capacity - (~rows) @ sizes
    used = np.flatnonzero(np.any(costs.slow > 0, axis=0) | np.any(~rows, axis=0))
    for _ in range(sweeps):
        changed = False
        for o in used:
            slow = costs.slow[:, o]
            others = load - slow * rows[phase_of, o]
            saved = np.maximum(costs.floor, others + slow) - np.maximum(costs.floor, others)
            by_phase = np.add.reduceat(saved, line.starts)
            fits = room + sizes[o] * ~rows[:, o] >= sizes[o]
            fetch, evict = moves.seconds(float(sizes[o]), 0.0), moves.seconds(0.0, float(sizes[o]))
            best = _one(by_phase, fits, rows[:, o], fetch, evict, None if start is None else bool(start[o]))
            if np.any(best != rows[:, o]):
                changed = True
                room += sizes[o] * (best.astype(np.int64) - rows[:, o])
                rows[:, o] = best
                load = others + slow * best[phase_of]
        if not changed:
            break
    return rows


def _one(
    saved: NDArray[np.float64], fits: NDArray[np.bool_], now: Slow, fetch: float, evict: float, start: bool | None
) -> Slow:
    """When one object is slow: two states, one step a phase. Of equal choices it stays `now` as long as it can."""
    tiny = 1e-12 * (float(np.abs(saved).sum()) + fetch + evict)
    here = -saved + np.where(now, tiny, 0.0)
    there = np.where(now, 0.0, tiny)
    fast = 0.0 if start is None or not start else fetch
    slow = 0.0 if start is None or start else evict
    came: list[tuple[bool, bool]] = []  # for each phase: was it slow before, if it is fast now, and if it is slow now
    for phase in range(len(saved)):
        if phase:
            came.append((slow + fetch < fast, slow <= fast + evict))
            fast, slow = min(fast, slow + fetch), min(slow, fast + evict)
        fast = fast + here[phase] if fits[phase] else np.inf
        slow += there[phase]
    best = np.empty(len(saved), dtype=np.bool_)
    best[-1] = slow <= fast
    for phase in range(len(saved) - 2, -1, -1):
        best[phase] = came[phase][int(best[phase + 1])]
    return best
