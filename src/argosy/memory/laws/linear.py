"""Two runs are enough: a window's time moves from slow to fast with the share of its accesses in fast memory.

    t[w] = t_slow[w] - (t_slow[w] - t_fast[w]) * share of the bytes of w that are in fast memory

A window whose two times differ by less than 3 % does not care, and keeps its slow time. The law cannot tell an object
that is read in order from one that is read at random: every byte of a window costs the same.
"""

from __future__ import annotations

import numpy as np

from argosy.memory.costs import Costs
from argosy.memory.laws.ends import find_ends
from argosy.memory.measuring import Measurements

DOES_NOT_CARE = 0.03


def fit_linear(measured: Measurements) -> Costs:
    """From the two ends alone."""
    fast, slow = find_ends(measured)
    t_fast, t_slow = measured.per_window[[fast, slow]]
    difference = t_slow - t_fast
    difference[np.abs(difference) < DOES_NOT_CARE * t_slow] = 0.0
    all_bytes = measured.moved.sum(axis=1, keepdims=True)
    share = np.divide(measured.moved, all_bytes, out=np.zeros_like(measured.moved), where=all_bytes > 0)
    difference[all_bytes[:, 0] == 0] = 0.0
    return Costs(
        objects=measured.objects,
        sizes=measured.sizes,
        windows=measured.windows,
        order=measured.order,
        floor=np.full(len(t_fast), -np.inf),
        base=t_slow - difference,
        slow=difference[:, None] * share,
    )
