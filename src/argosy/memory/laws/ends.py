"""The two placements that every law stands on: all fast and all slow."""

from __future__ import annotations

import numpy as np

from argosy.memory.measuring import Measurements


def find_ends(measured: Measurements) -> tuple[int, int]:
    """Where the all-fast and the all-slow placement are among the rows."""
    fast = np.flatnonzero(~measured.rows.any(axis=1))
    slow = np.flatnonzero(measured.rows.all(axis=1))
    if not len(fast) or not len(slow):
        raise ValueError("a law needs a run with everything in fast memory and one with everything in slow memory")
    return int(fast[0]), int(slow[0])
