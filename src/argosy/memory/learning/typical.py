"""What is known of a run before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Typical:
    """What each object costs by being slow in the mean window of a run, and in that of each name: [n], in one unit."""

    overall: Floats
    by_name: Mapping[str, Floats]
    windows: int
    """How many a run has."""

    def over(self, unit: Floats) -> Typical:
        by_name = {name: cost / unit for name, cost in self.by_name.items()}
        return replace(self, overall=self.overall / unit, by_name=by_name)

    def left(self, step: int) -> int | None:
        """How many windows there are from this one on; None for a run that has lasted longer than it should."""
        return self.windows - step if step < self.windows else None

    def left_of(self, spent: Floats, step: int) -> Floats:
        """What each object costs in the mean window of those that are left, where so much has been spent before."""
        left = self.left(step)
        return self.overall if left is None else np.maximum(self.windows * self.overall - spent, 0.0) / left
