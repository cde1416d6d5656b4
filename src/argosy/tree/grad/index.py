"""What stands between the brackets of `a[...]`."""

from __future__ import annotations

from typing import Any

import numpy as np

from argosy.tree.grad.traced import innermost


def plain_index(index: Any) -> Any:
    """Without wrappers: an index is concrete."""
    if isinstance(index, tuple):
        return tuple(plain_index(i) for i in index)
    if isinstance(index, slice):
        return slice(plain_index(index.start), plain_index(index.stop), plain_index(index.step))
    if isinstance(index, list):
        return [plain_index(i) for i in index]
    return innermost(index)


def frozen_index(index: Any) -> Any:
    """For the way back: later writes into an index array do not count."""
    if isinstance(index, tuple):
        return tuple(frozen_index(i) for i in index)
    if isinstance(index, list):
        return np.array(index) if index else np.zeros(0, np.intp)
    return index.copy() if isinstance(index, np.ndarray) else index


def is_basic(index: Any) -> bool:
    """Does it give a view?"""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        p is None or p is ... or isinstance(p, slice | np.integer) or (isinstance(p, int) and not isinstance(p, bool))
        for p in parts
    )


def has_places(index: Any) -> bool:
    """Are there arrays of places in it, so that one place may come twice?"""
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(p, np.ndarray) and p.dtype != np.bool_ for p in parts)
