"""Which samples of a file are taken when fewer are asked for than there are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def chosen(there: int, count: int, seed: int) -> NDArray[np.int64]:
    """Places of `count` samples in order; all of them where there are not more, else by chance."""
    if count >= there:
        return np.arange(there)
    return np.sort(np.random.default_rng(seed).permutation(there)[:count])
