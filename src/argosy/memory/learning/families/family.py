"""What a family of made-up runs is, and what families are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Passes = NDArray[np.float64]
"""[windows, objects]: how often each window passes over each object."""

Made = tuple[Passes, list[str]]
"""The passes, and the name of each window."""

Family = Callable[[np.random.Generator, int, int], Made]
"""From a generator, a number of windows and a number of objects."""


def some_of(rng: np.random.Generator, objects: int, share: float) -> Passes:
    """A random set of objects, at least one, each with its number of passes."""
    chosen = rng.random(objects) < share
    chosen[rng.integers(objects)] = True
    return np.where(chosen, rng.uniform(0.5, 3.0, objects), 0.0)
