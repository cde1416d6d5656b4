"""A window takes the larger of its computing and of its slow traffic, for the one can hide behind the other.

    t[w] = max(floor[w], base[w] + sum of slow[w, o] over the slow objects)

Found window by window: placements that are no slower than the all-fast one are bound by computing and set the floor;
the others set the traffic by non-negative least squares; then each placement is put on the side that explains it, until
none changes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.memory.costs import Costs
from argosy.memory.laws.additive import fit_window
from argosy.memory.laws.ends import find_ends
from argosy.memory.measuring import Measurements

ROUNDS = 12


def fit_hinge(measured: Measurements) -> Costs:
    """With two placements alone, the traffic is one price per byte."""
    floors, bases, slows = zip(*(_fit_window(measured, window) for window in range(len(measured.windows))), strict=True)
    return Costs(
        objects=measured.objects,
        sizes=measured.sizes,
        windows=measured.windows,
        order=measured.order,
        floor=np.array(floors),
        base=np.array(bases),
        slow=np.array(slows),
    )


def _fit_window(measured: Measurements, window: int) -> tuple[float, float, NDArray[np.float64]]:
    fast, slow = find_ends(measured)
    seconds = measured.per_window[:, window]
    if not measured.moved[window].any():
        return -np.inf, float(np.median(seconds)), np.zeros(len(measured.objects))
    bound = seconds <= seconds[fast] * 1.02
    bound[[fast, slow]] = True, False
    best: tuple[float, float, float, NDArray[np.float64]] | None = None
    for _ in range(ROUNDS):
        floor = float(np.median(seconds[bound]))
        base, costs = fit_window(measured, window, ~bound)
        traffic = base + measured.rows @ costs
        error = float(np.sum(((np.maximum(floor, traffic) - seconds) / measured.totals) ** 2))
        if best is None or error < best[0]:
            best = error, floor, base, costs
        again = traffic < floor
        again[[fast, slow]] = True, False
        if (again == bound).all():
            break
        bound = again
    assert best is not None
    return best[1:]
