"""The clairvoyant reference: what the window needs comes in, what is needed last goes out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.memory.costs import Costs
from argosy.memory.moves import Moves
from argosy.memory.placement import Slow
from argosy.memory.planning.online import fill
from argosy.memory.planning.solved import Solved


def belady(costs: Costs, moves: Moves, capacity: int, *, start: Slow | None = None) -> Solved:
    """A schedule, one row for each occurrence of a window. It knows the future, and moves before a window, not after.

    An object that the window uses is fetched; those whose next use is farthest away leave for it. It is passed by where
    that does not pay: what it saves until the first of those that left is used again (less what they lose now) must be
    more than the moves. For objects of one size and one cost no schedule that fetches on use is better; for others it
    is a reference that can be beaten. Without `start`, the objects that are used soonest are fast from the beginning.
    """
    single = costs.per_occurrence()
    sizes = np.asarray(costs.sizes, dtype=np.int64)
    saved = _saved(single)
    ahead = np.vstack([np.zeros(len(sizes)), np.cumsum(saved, axis=0)])
    next_use = _next_use(saved)
    if start is None:
        order = np.lexsort((-saved[0] / np.maximum(sizes, 1), next_use[0]))
        fast = fill([int(o) for o in order if next_use[0, o] < len(saved)], sizes, capacity)
    else:
        fast = {int(o) for o in np.flatnonzero(~start)}
    rows = np.ones(saved.shape, dtype=np.bool_)
    for step in range(len(saved)):
        used = np.flatnonzero(saved[step] > 0)
        for o in used[np.argsort(-saved[step, used] / np.maximum(sizes[used], 1), kind="stable")]:
            if int(o) not in fast:
                fast = _after_fetching(int(o), fast, step, sizes, capacity, moves, saved, ahead, next_use)
        rows[step, list(fast)] = False
    return Solved(rows=rows)


def _after_fetching(
    wanted: int,
    fast: set[int],
    step: int,
    sizes: NDArray[np.int64],
    capacity: int,
    moves: Moves,
    saved: NDArray[np.float64],
    ahead: NDArray[np.float64],
    next_use: NDArray[np.int64],
) -> set[int]:
    """The fast objects with `wanted` among them, or as they were where it does not fit or does not pay."""
    room = capacity - int(sizes[list(fast)].sum())
    leaving: list[int] = []
    for o in sorted(fast, key=lambda o: (-next_use[step, o], saved[step, o] / max(int(sizes[o]), 1))):
        if room >= sizes[wanted]:
            break
        leaving.append(o)
        room += int(sizes[o])
    if room < sizes[wanted]:
        return fast
    until = min((int(next_use[step + 1, o]) for o in leaving), default=len(saved))
    gain = ahead[until, wanted] - ahead[step, wanted] - saved[step, leaving].sum()
    if gain <= moves.seconds(float(sizes[wanted]), float(sizes[leaving].sum())):
        return fast
    return (fast - set(leaving)) | {wanted}


def _saved(single: Costs) -> NDArray[np.float64]:
    """[occurrences, objects]: seconds that each object saves in each window when it is fast and the others are slow."""
    load = (single.base + single.slow.sum(axis=1))[:, None]
    floor = single.floor[:, None]
    saved: NDArray[np.float64] = np.maximum(floor, load) - np.maximum(floor, load - single.slow)
    return np.maximum(saved, 0.0)


def _next_use(saved: NDArray[np.float64]) -> NDArray[np.int64]:
    """[occurrences + 1, objects]: the first window from this one on that uses the object; their number if none does."""
    result = np.full((len(saved) + 1, saved.shape[1]), len(saved), dtype=np.int64)
    for step in range(len(saved) - 1, -1, -1):
        result[step] = np.where(saved[step] > 0, step, result[step + 1])
    return result
