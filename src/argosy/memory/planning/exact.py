"""The best placement for the whole run, proven: a knapsack, or a mixed-integer program where windows have floors.

With y[o] = 1 where object o is fast, and `full[w]` the load of window w with everything slow:

    least    sum over w of t[w]
    where    t[w] >= floor[w],    t[w] >= full[w] - sum over o of slow[w, o] * y[o]
    and      sum over o of size[o] * y[o] <= capacity

A window whose floor can never be reached, or never be left, needs no t of its own; without any other it is a knapsack.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from argosy.memory.costs import Costs
from argosy.memory.planning.greedy import greedy
from argosy.memory.planning.highs import SCALE, minimise
from argosy.memory.planning.solved import Solved

MOST_ROUNDS = 50


def exact(costs: Costs, capacity: int, *, time_limit_seconds: float = 10.0) -> Solved:
    """One placement, never worse than greedy's. When the time is up: the best so far, the bound, and a note with the
    gap between them. Needs SciPy."""
    sizes = np.asarray(costs.sizes, dtype=np.int64)
    chosen = np.flatnonzero((sizes <= capacity) & np.any(costs.slow > 0, axis=0))
    start = greedy(costs, capacity)
    seconds = float(costs.total(start.rows)[0])
    if sizes[chosen].sum() <= capacity and not np.any(costs.slow[:, chosen] < 0):
        rows = np.ones((1, len(sizes)), dtype=np.bool_)
        rows[0, chosen] = False
        return Solved(rows=rows, bound=float(costs.total(rows)[0]))
    program = _Program(costs, sizes, chosen, capacity)
    fast, bound = program.solve(time_limit_seconds)
    rows = start.rows
    if fast is not None:
        found = np.ones((1, len(sizes)), dtype=np.bool_)
        found[0, fast] = False
        if costs.total(found)[0] <= seconds:
            rows, seconds = found, float(costs.total(found)[0])
    bound = min(bound, seconds)
    gap = (seconds - bound) / seconds if seconds > 0 else 0.0
    notes = (f"not proven best within {time_limit_seconds:g} s: gap {gap:.2%}",) if gap > 1e-6 else ()
    return Solved(rows=rows, bound=bound, notes=notes)


class _Program:
    """The program over the objects that may be worth it, and the cuts found so far."""

    def __init__(self, costs: Costs, sizes: NDArray[np.int64], chosen: NDArray[np.int64], capacity: int) -> None:
        self._sizes = sizes
        self._chosen = chosen
        self._capacity = capacity
        saved = costs.slow[:, chosen]
        full = costs.base + costs.slow.sum(axis=1)
        never = costs.floor <= full - np.maximum(saved, 0).sum(axis=1)
        always = ~never & (costs.floor >= full + np.maximum(-saved, 0).sum(axis=1))
        hinged = ~never & ~always
        self._constant = float(full[never].sum() + costs.floor[~never].sum())
        by_object = saved[never].sum(axis=0)
        self._per_second = SCALE / max(float(np.abs(by_object).sum() + np.abs(saved[hinged]).sum()), 1e-300)
        self._weights = np.concatenate([-by_object * self._per_second, np.ones(int(hinged.sum()))])
        self._saved = saved[hinged] * self._per_second
        self._above = (full - costs.floor)[hinged] * self._per_second
        self._covers: list[NDArray[np.float64]] = []

    def solve(self, time_limit_seconds: float) -> tuple[NDArray[np.int64] | None, float]:
        """The objects to be fast, if any were found in time, and a bound of the seconds.

        The solver's sums are rounded, ours are not: a choice that is over the capacity by some bytes is cut off, as the
        rule that these objects cannot all be fast, and the program solved again.
        """
        deadline = time.monotonic() + time_limit_seconds
        bound = -np.inf
        for _ in range(MOST_ROUNDS):
            values, bound = self._once(deadline - time.monotonic())
            if values is None:
                break
            taken = values[: len(self._chosen)] > 0.5
            if self._sizes[self._chosen[taken]].sum() <= self._capacity:
                return self._chosen[taken], bound
            self._covers.append(taken.astype(np.float64))
        return None, bound

    def _once(self, seconds: float) -> tuple[NDArray[np.float64] | None, float]:
        num_objects, num_hinged = len(self._chosen), len(self._above)
        room = self._sizes[self._chosen] * (SCALE / max(self._capacity, 1))
        limits = np.vstack([room, *self._covers])
        matrix = np.zeros((len(limits) + num_hinged, num_objects + num_hinged))
        matrix[: len(limits), :num_objects] = limits
        matrix[len(limits) :, :num_objects] = self._saved
        matrix[len(limits) :, num_objects:] = np.eye(num_hinged)
        rows, columns = np.nonzero(matrix)
        answer = minimise(
            self._weights,
            (rows, columns, matrix[rows, columns]),
            least=np.concatenate([np.full(len(limits), -np.inf), self._above]),
            most=np.concatenate([[SCALE], [cover.sum() - 1 for cover in self._covers], np.full(num_hinged, np.inf)]),
            lower=np.zeros(num_objects + num_hinged),
            upper=np.concatenate([np.ones(num_objects), np.full(num_hinged, np.inf)]),
            is_integer=np.arange(num_objects + num_hinged) < num_objects,
            time_limit_seconds=seconds,
        )
        return answer.values, self._constant + answer.bound / self._per_second
