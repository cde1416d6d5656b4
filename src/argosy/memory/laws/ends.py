"""The two placements that every law must get right: all fast and all slow."""

from __future__ import annotations

import numpy as np

from argosy.memory.costs import Costs
from argosy.memory.measuring import Measurements
from argosy.memory.workload import BETWEEN


def find_ends(measured: Measurements) -> tuple[int, int]:
    """Where the all-fast and the all-slow placement are among the rows."""
    fast = np.flatnonzero(~measured.rows.any(axis=1))
    slow = np.flatnonzero(measured.rows.all(axis=1))
    if not len(fast) or not len(slow):
        raise ValueError("a law needs a run with everything in fast memory and one with everything in slow memory")
    return int(fast[0]), int(slow[0])


def exact_at_ends(costs: Costs, measured: Measurements) -> Costs:
    """The same costs, corrected so that both ends are predicted as measured.

    What is amiss with all objects slow is shared out by what each object costs, which scales their costs alike; what is
    amiss with all of them fast belongs to no object. Both go to the time between windows, which no law gives a floor.
    """
    fast, slow = find_ends(measured)
    at = costs.windows.index(BETWEEN)
    ends = measured.rows[[fast, slow]]
    amiss_fast, amiss_slow = measured.totals[[fast, slow]] - costs.total(ends)
    by_object = costs.slow.sum(axis=0)
    if by_object.sum() <= 0:
        by_object = measured.moved.sum(axis=0) + 1e-30
    base, per_object = costs.base.copy(), costs.slow.copy()
    base[at] += amiss_fast
    per_object[at] += (amiss_slow - amiss_fast) * by_object / by_object.sum()
    return Costs(
        objects=costs.objects,
        sizes=costs.sizes,
        windows=costs.windows,
        order=costs.order,
        floor=costs.floor,
        base=base,
        slow=per_object,
    )
