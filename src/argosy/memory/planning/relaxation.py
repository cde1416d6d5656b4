"""A good schedule of many objects, and how good any could be: a linear relaxation, rounded.

With y[p, o] = 1 where object o is fast in phase p, and f[p, o] = 1 where it is fetched before it:

    least    seconds of the windows (as in `exact`) + sum of fetch * size * f + evict * size * (f - y[p] + y[p - 1])
    where    f[p, o] >= y[p, o] - y[p - 1, o],  f >= 0,  and each phase keeps the capacity
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.memory.moves import Moves
from argosy.memory.placement import Slow
from argosy.memory.planning.highs import SCALE, Answer, minimise
from argosy.memory.planning.online import fill
from argosy.memory.planning.timeline import Timeline

GAP = 1e-3
"""Far below what a prediction is wrong by."""


def relaxed(
    line: Timeline, moves: Moves, capacity: int, start: Slow | None, *, whole: bool, time_limit_seconds: float
) -> tuple[Slow | None, float]:
    """A schedule [phases, objects], if one was found in time, and seconds that none can beat.

    `whole` asks for whole objects: mixed-integer, and the best but for 0.1 % if the time suffices. Without it objects
    may be fast in part, and the schedule is rounded: in each phase the objects that are fast for the largest part, as
    many as fit. Capacity is always kept. Needs SciPy.
    """
    program = _Program(line, moves, capacity, start)
    answer = program.solve(whole, time_limit_seconds)
    bound = program.seconds(answer.bound)
    if answer.values is None:
        return None, bound
    return program.rounded(answer.values), bound


class _Program:
    def __init__(self, line: Timeline, moves: Moves, capacity: int, start: Slow | None) -> None:
        costs = line.costs
        self._capacity = capacity
        self._sizes = np.asarray(costs.sizes, dtype=np.int64)
        self._shape = (line.num_phases, len(self._sizes))
        full = costs.base + costs.slow.sum(axis=1)
        never = costs.floor <= full - np.maximum(costs.slow, 0).sum(axis=1)
        hinged = np.flatnonzero(~never)
        by_phase = np.zeros(self._shape)
        np.add.at(by_phase, line.phase_of[never], costs.slow[never])

        fetch, evict = moves.fetch_seconds_per_byte * self._sizes, moves.evict_seconds_per_byte * self._sizes
        weights = -by_phase
        constant = float(full[never].sum() + costs.floor[hinged].sum())
        first = 1  # the phase before which the first moves are
        if start is not None:
            first = 0
            constant += float(evict @ ~start)
        if self._shape[0] > first:  # the sum of evict * (y[p - 1] - y[p]) leaves the first and the last
            weights[-1] -= evict
            if start is None:
                weights[0] += evict
        self._constant = constant
        self._per_second = SCALE / max(float(np.abs(weights).sum() + np.abs(costs.slow[hinged]).sum()), 1e-300)
        moved = np.broadcast_to(fetch + evict, (self._shape[0] - first, self._shape[1]))
        self._weights = np.concatenate(
            [weights.ravel() * self._per_second, moved.ravel() * self._per_second, np.ones(len(hinged))]
        )
        self._build(line, full, hinged, first, start)

    def _build(
        self, line: Timeline, full: NDArray[np.float64], hinged: NDArray[np.int64], first: int, start: Slow | None
    ) -> None:
        phases, objects = self._shape
        cells = phases * objects
        y = np.arange(cells).reshape(self._shape)
        f = cells + np.arange((phases - first) * objects)
        # Capacity: one row a phase.
        rows = [np.repeat(np.arange(phases), objects)]
        columns = [y.ravel()]
        values = [np.tile(self._sizes * (SCALE / max(self._capacity, 1)), phases)]
        least, most = [np.full(phases, -np.inf)], [np.full(phases, SCALE)]
        # Fetches: f - y[p] + y[p - 1] >= 0, with `start` in the place of the placement before the first.
        at = phases + np.arange(len(f))
        rows += [at, at]
        columns += [f, y[first:].ravel()]
        values += [np.ones(len(f)), -np.ones(len(f))]
        before = y[: phases - 1].ravel()
        rows.append(at[len(f) - len(before) :])
        columns.append(before)
        values.append(np.ones(len(before)))
        evictable = np.zeros(len(f))
        if start is not None:
            evictable[:objects] = -(~start).astype(np.float64)
        least.append(evictable)
        most.append(np.full(len(f), np.inf))
        # Floors: u + sum of slow * y >= full - floor, where u is the time above the floor.
        saved = line.costs.slow[hinged] * self._per_second
        which, objects_of = np.nonzero(saved)
        rows += [phases + len(f) + which, phases + len(f) + np.arange(len(hinged))]
        columns += [y[line.phase_of[hinged[which]], objects_of], cells + len(f) + np.arange(len(hinged))]
        values += [saved[which, objects_of], np.ones(len(hinged))]
        least.append((full - line.costs.floor)[hinged] * self._per_second)
        most.append(np.full(len(hinged), np.inf))
        self._entries = (np.concatenate(rows), np.concatenate(columns), np.concatenate(values))
        self._least, self._most = np.concatenate(least), np.concatenate(most)

    def solve(self, whole: bool, time_limit_seconds: float) -> Answer:
        cells = self._shape[0] * self._shape[1]
        upper = np.full(len(self._weights), np.inf)
        upper[:cells] = np.tile(self._sizes <= self._capacity, self._shape[0])
        return minimise(
            self._weights,
            self._entries,
            least=self._least,
            most=self._most,
            lower=np.zeros(len(self._weights)),
            upper=upper,
            is_integer=(np.arange(len(self._weights)) < cells) & whole,
            time_limit_seconds=time_limit_seconds,
            gap=GAP,
        )

    def seconds(self, objective: float) -> float:
        return self._constant + objective / self._per_second

    def rounded(self, values: NDArray[np.float64]) -> Slow:
        parts = values[: self._shape[0] * self._shape[1]].reshape(self._shape)
        is_slow = np.ones(self._shape, dtype=np.bool_)
        for phase, part in enumerate(parts):
            order = [int(o) for o in np.argsort(-part, kind="stable") if part[o] > 1e-3]
            is_slow[phase, list(fill(order, self._sizes, self._capacity))] = False
        return is_slow
