"""Objects where nobody tells of allocations: pages that lie together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def group_pages(pages: NDArray[np.int64], *, limit: int = 64) -> NDArray[np.int64]:
    """For each of these pages, sorted and all different, the number of its group, from 0 up.

    Pages next to each other are one group. If that makes more than `limit` groups, small gaps are closed first.
    """
    if not len(pages):
        return np.zeros(0, np.int64)
    gaps = np.diff(pages)
    if np.count_nonzero(gaps > 1) < limit:
        split = gaps > 1
    else:
        split = np.zeros(len(gaps), bool)
        split[np.argsort(-gaps, kind="stable")[: limit - 1]] = True
    return np.concatenate([[0], np.cumsum(split)]).astype(np.int64)


def group_names(pages: NDArray[np.int64], groups: NDArray[np.int64], page_nbytes: int) -> tuple[list[str], list[int]]:
    """What each group is called, and how many bytes its pages have."""
    names, sizes = [], []
    for number in range(int(groups[-1]) + 1 if len(groups) else 0):
        mine = pages[groups == number]
        names.append(f"pages {int(mine[0]) * page_nbytes:#x}-{(int(mine[-1]) + 1) * page_nbytes:#x}")
        sizes.append(len(mine) * page_nbytes)
    return names, sizes
