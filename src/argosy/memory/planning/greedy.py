"""The densest first: seconds saved per byte, weighed anew after each choice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.memory.costs import Costs
from argosy.memory.planning.solved import Solved


def greedy(costs: Costs, capacity: int) -> Solved:
    """One placement. Floors make an object's saving depend on the others, hence the new weighing.

    The single object that saves most is taken instead where it beats all that the densest save together: without that
    the answer could be arbitrarily bad. Cost: objects^2 * windows additions.
    """
    sizes = np.asarray(costs.sizes, dtype=np.int64)
    is_slow = np.ones(len(sizes), dtype=np.bool_)
    load = costs.base + costs.slow.sum(axis=1)
    room = capacity
    first = _saved(costs, load)
    while True:
        saved = np.where(is_slow & (sizes <= room), _saved(costs, load), 0.0)
        if not np.any(saved > 0):
            break
        best = int(np.argmax(saved / np.maximum(sizes, 1)))
        is_slow[best] = False
        load = load - costs.slow[:, best]
        room -= int(sizes[best])
    alone = np.ones(len(sizes), dtype=np.bool_)
    fits = np.where(sizes <= capacity, first, 0.0)
    if np.any(fits > 0):
        alone[int(np.argmax(fits))] = False
    both = np.stack([is_slow, alone])
    return Solved(rows=both[[int(np.argmin(costs.total(both)))]])


def _saved(costs: Costs, load: NDArray[np.float64]) -> NDArray[np.float64]:
    """Seconds that each object alone would save now."""
    floor = costs.floor[:, None]
    now = np.maximum(floor, load[:, None])
    saved: NDArray[np.float64] = (now - np.maximum(floor, load[:, None] - costs.slow)).sum(axis=0)
    return saved
