"""The best schedule of few objects: a dynamic program over all placements.

    value[p, x] = seconds[p, x] + least over y of (value[p - 1, y] + seconds of moving from y to x)

A move's cost is a sum over objects, so the least over y is found one object at a time, in objects * 2^objects steps
instead of 4^objects; placements on the way need not fit, as nothing ever runs in them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.memory.moves import Moves
from argosy.memory.placement import Slow
from argosy.memory.planning.exhaustive import bits
from argosy.memory.planning.timeline import Timeline

MOST_CELLS = 4_000_000
MOST_OBJECTS = 16


def is_small(num_phases: int, num_objects: int) -> bool:
    """Do the tables (8 bytes a cell, two of them) stay small?"""
    return num_objects <= MOST_OBJECTS and num_phases * 2**num_objects <= MOST_CELLS


def best_schedule(line: Timeline, moves: Moves, capacity: int, start: Slow | None) -> Slow:
    """[phases, objects]: the least of seconds and moves. The first placement is free unless there is a `start`."""
    sizes = np.asarray(line.costs.sizes, dtype=np.int64)
    rows = bits(np.arange(2 ** len(sizes)), len(sizes))
    seconds = np.add.reduceat(line.costs.per_window(rows).T, line.starts, axis=0)
    seconds[:, (~rows) @ sizes > capacity] = np.inf
    value = np.empty_like(seconds)
    value[0] = seconds[0] + (0.0 if start is None else _onward(rows, start, sizes, moves))
    for phase in range(1, len(value)):
        value[phase] = seconds[phase] + _after_moves(value[phase - 1], sizes, moves)
    schedule = np.empty((len(value), len(sizes)), dtype=np.bool_)
    schedule[-1] = rows[int(np.argmin(value[-1]))]
    for phase in range(len(value) - 2, -1, -1):
        reached = value[phase] + _before(rows, schedule[phase + 1], sizes, moves)
        schedule[phase] = rows[int(np.argmin(reached))]
    return schedule


def _after_moves(value: NDArray[np.float64], sizes: NDArray[np.int64], moves: Moves) -> NDArray[np.float64]:
    best = value.copy()
    for o, size in enumerate(sizes):
        pairs = best.reshape(-1, 2, 1 << o)  # bit o of the index is the middle axis: 0 is fast, 1 is slow
        fast, slow = pairs[:, 0].copy(), pairs[:, 1].copy()
        np.minimum(fast, slow + moves.seconds(float(size), 0.0), out=pairs[:, 0])
        np.minimum(slow, fast + moves.seconds(0.0, float(size)), out=pairs[:, 1])
    return best


def _before(rows: Slow, after: Slow, sizes: NDArray[np.int64], moves: Moves) -> NDArray[np.float64]:
    """Seconds from each placement to this one."""
    fetched = rows @ (sizes * ~after)
    evicted = ~rows @ (sizes * after)
    return moves.fetch_seconds_per_byte * fetched + moves.evict_seconds_per_byte * evicted


def _onward(rows: Slow, before: Slow, sizes: NDArray[np.int64], moves: Moves) -> NDArray[np.float64]:
    """Seconds from this placement to each."""
    fetched = ~rows @ (sizes * before)
    evicted = rows @ (sizes * ~before)
    return moves.fetch_seconds_per_byte * fetched + moves.evict_seconds_per_byte * evicted
