"""How fast the machine was at each run, told from the runs just before and after it.

A machine that is shared is slower for a second or for minutes, and all that runs then is slower alike. Where many
placements run in turns, that shows. On the disk of a virtual machine, where runs of one placement differ by 11 %, half
of that is common to neighbours; with it taken out, laws are as exact from five runs of each placement as from eight.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ROUNDS = 5  # of fitting placements and pace in turns
REACH = 4  # neighbours on either side; each counts 1/e of the one before it
MOST = 0.3  # of the logarithm: what a single run can say of the pace


def find_pace(runs: NDArray[np.float64], when: NDArray[np.intp]) -> NDArray[np.float64]:
    """Seconds of a run over what it takes at the usual pace, by what its neighbours say: [placements, repeats].

    `when` has the place of each run in the order of time. Runs say nothing of their own pace, so what a placement costs
    is never taken for a slow moment; with one repeat of each placement the pace is 1 throughout.
    """
    in_time = np.argsort(when, axis=None)
    logs = np.log(np.maximum(runs, np.finfo(np.float64).tiny))
    pace = np.zeros_like(logs)
    for _ in range(ROUNDS):
        usual = np.median(logs - pace, axis=1, keepdims=True)
        slower = np.clip(logs - usual, -MOST, MOST).ravel()[in_time]
        around = _of_neighbours(slower)
        told = around @ around
        share = float(np.clip(around @ slower / told, 0.0, 1.0)) if told > 0 else 0.0
        found = np.empty(runs.size)
        found[in_time] = share * (around - around.mean())
        pace = found.reshape(runs.shape)
    return np.exp(pace)


def _of_neighbours(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weighted mean of those around each, without itself."""
    kernel = np.exp(-np.abs(np.arange(-REACH, REACH + 1, dtype=np.float64)))
    kernel[REACH] = 0.0
    padded = np.pad(values, REACH)
    counts = np.pad(np.ones_like(values), REACH)
    return np.convolve(padded, kernel, "valid") / np.maximum(np.convolve(counts, kernel, "valid"), np.exp(-REACH - 1))
