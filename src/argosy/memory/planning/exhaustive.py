"""Every placement that fits, predicted in batches: the best one without any doubt, for few objects."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.memory.costs import CHUNK_ROWS, Costs
from argosy.memory.placement import Slow
from argosy.memory.planning.solved import Solved

MOST_OBJECTS = 20


def exhaustive(costs: Costs, capacity: int) -> Solved:
    """One placement. Cost: 2^objects predictions. Of placements of equal time the first in the order of counting."""
    num_objects = len(costs.objects)
    if num_objects > MOST_OBJECTS:
        raise ValueError(
            f"exhaustive search over {num_objects} objects would take 2^{num_objects} predictions; "
            f"it is for up to {MOST_OBJECTS}: use solver='exact'"
        )
    sizes = np.asarray(costs.sizes, dtype=np.int64)
    best_seconds = np.inf
    best = np.ones(num_objects, dtype=np.bool_)
    for at in range(0, 2**num_objects, CHUNK_ROWS):
        rows = bits(np.arange(at, min(at + CHUNK_ROWS, 2**num_objects)), num_objects)
        rows = rows[(~rows) @ sizes <= capacity]
        if len(rows) == 0:
            continue
        seconds = costs.total(rows)
        found = int(np.argmin(seconds))
        if seconds[found] < best_seconds:
            best_seconds, best = float(seconds[found]), rows[found]
    return Solved(rows=best[None], bound=best_seconds)


def bits(numbers: NDArray[np.int64], num_objects: int) -> Slow:
    """Row i says which bits of number i are set: object o is bit o."""
    return (numbers[:, None] >> np.arange(num_objects)) & 1 == 1
