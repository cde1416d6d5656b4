"""Every object has a cost of its own in every window: t[w] = base[w] + sum of slow[w, o] over the slow objects.

Found by non-negative least squares over the measured placements, each weighted so that relative errors of the whole run
count alike. Only objects that a window touches can cost it anything.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.memory.costs import Costs
from argosy.memory.measuring import Measurements


def fit_additive(measured: Measurements) -> Costs:
    """Needs about as many mixed placements as a window touches objects; with fewer it is guided by the bytes moved."""
    base, slow = zip(
        *(
            fit_window(measured, window, np.ones(len(measured.rows), dtype=np.bool_))
            for window in range(len(measured.windows))
        ),
        strict=True,
    )
    return Costs(
        objects=measured.objects,
        sizes=measured.sizes,
        windows=measured.windows,
        order=measured.order,
        floor=np.full(len(base), -np.inf),
        base=np.array(base),
        slow=np.array(slow),
    )


def fit_window(measured: Measurements, window: int, among: NDArray[np.bool_]) -> tuple[float, NDArray[np.float64]]:
    """Base and cost per object of one window, from the placements in `among`.

    Where those do not tell two objects apart, a weak pull towards one price per byte decides: about a thousandth of
    the weight of a measurement.
    """
    from scipy.optimize import nnls

    objects = np.flatnonzero(measured.moved[window])
    seconds = measured.per_window[among, window]
    costs = np.zeros(len(measured.objects))
    if not len(seconds):
        return 0.0, costs
    if not len(objects):
        return float(np.median(seconds)), costs
    weight = 1.0 / measured.totals[among]
    slow = measured.rows[np.ix_(among, objects)].astype(np.float64)
    matrix = np.column_stack([np.ones(len(seconds)), slow]) * weight[:, None]
    per_byte = _price(slow, measured.moved[window, objects], seconds)
    pull = 0.03 * weight.mean() * np.eye(len(objects))
    matrix = np.vstack([matrix, np.column_stack([np.zeros(len(objects)), pull])])
    wanted = np.concatenate([seconds * weight, pull @ (per_byte * measured.moved[window, objects])])
    found, _ = nnls(matrix, wanted)
    costs[objects] = found[1:]
    return float(found[0]), costs


def _price(slow: NDArray[np.float64], moved: NDArray[np.float64], seconds: NDArray[np.float64]) -> float:
    """Seconds per slow byte if every byte cost the same; never below zero."""
    nbytes = slow @ moved
    spread = nbytes - nbytes.mean()
    return max(float(spread @ seconds / (spread @ spread)), 0.0) if spread.any() else 0.0
