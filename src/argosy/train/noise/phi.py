"""The one noise scale that stands for a stretch of a run, in which it grows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Phi:
    """A noise scale with its interval, as `predict` takes it."""

    value: float
    low: float
    high: float


def typical(way: Sequence[tuple[float, float]], until: float, confidence: float) -> Phi:
    """The median over the windows of a trajectory that end before so many samples.

    The mean over all steps would be ruled by the first ones, whose gradients are by far the largest. The interval lies
    between two of the windows, as the median does whatever they are distributed like; few of them say nothing.
    """
    values = np.sort([phi for at, phi in way if at < until] or [way[0][1]])
    from_end = 0
    beyond = 0
    chance = (1 - confidence) * 2 ** (len(values) - 1)
    while beyond + math.comb(len(values), from_end) <= chance:
        beyond += math.comb(len(values), from_end)
        from_end += 1
    ends = (0.0, math.inf) if from_end == 0 else (float(values[from_end - 1]), float(values[-from_end]))
    return Phi(float(np.median(values)), *ends)
