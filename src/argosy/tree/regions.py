"""Parts of arrays, as boxes of their axes, and whether two of them can have an element in common. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Span = tuple[int, int, int]
"""Start, stop and step of the indices along one axis; step at least 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    array: Any
    spans: tuple[Span, ...]
    """Of the first axes; the others are whole."""
    index: Any


def region_of(array: Any, index: Any) -> Region | None:
    """The region that an index of integers, slices, None and ... touches; None when it is not of this form."""
    if type(array) is not np.ndarray or array.ndim == 0 or overlaps_itself(array):
        return None
    parts = index if type(index) is tuple else (index,)
    spans: list[Span] = []
    for part in parts:
        if part is None:
            continue
        axis = len(spans)
        if part is Ellipsis or axis >= array.ndim:
            break
        size = array.shape[axis]
        if type(part) is slice:
            try:
                start, stop, step = part.indices(size)
            except (TypeError, ValueError):
                return None
            if step < 0:
                count = max(0, (start - stop - step - 1) // -step)
                start, stop, step = start + (count - 1) * step, start + 1, -step
            spans.append((start, stop, step))
        elif type(part) is int or isinstance(part, np.integer):
            at = int(part) + (size if part < 0 else 0)
            if not 0 <= at < size:
                return None
            spans.append((at, at + 1, 1))
        else:
            return None
    return Region(array, tuple(spans), index)


def overlaps_itself(array: Any) -> bool:
    """An element has several indices, as in sliding windows or what was broadcast."""
    if array.flags.c_contiguous or array.flags.f_contiguous or array.size == 0:
        return False
    extent = sum((size - 1) * abs(stride) for size, stride in zip(array.shape, array.strides, strict=True))
    return bool(extent + array.itemsize < array.size * array.itemsize)


def overlap(one: Region | None, other: Region | None) -> bool:
    """Whether they may share an element; None is everything there is."""
    if one is None or other is None:
        return True
    if one.array is other.array:
        return not any(_apart(a, b) for a, b in zip(one.spans, other.spans, strict=False))
    return bool(np.may_share_memory(_view(one), _view(other)))


def _view(region: Region) -> Any:
    """The region as a view, also when it is one element."""
    return region.array[tuple(slice(*span) for span in region.spans)]


def _apart(one: Span, other: Span) -> bool:
    if one[1] <= other[0] or other[1] <= one[0]:
        return True
    return one[2] == other[2] and one[2] > 1 and (one[0] - other[0]) % one[2] != 0
