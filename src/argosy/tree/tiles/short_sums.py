"""Sums along a short axis, in the order in which NumPy adds, but many sums side by side.

NumPy adds up a short fastest axis (three coordinates of a point) one row at a time, which costs more in calls than in
additions. Where the short axis is not the fastest in memory, the same additions are done for all rows at once. NumPy's
order for up to 128 numbers: fewer than 8 one after another; else eight partial sums r[j] = x[j] + x[j + 8] + ..., then
((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7)), then the remaining ones one after another.
"""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST = 128
_LANES = 8


def short_reduction(name: str, array: NDArray[Any], axis: int, keepdims: bool) -> NDArray[Any]:
    """`sum`, `mean` or `norm` along an axis of up to 128 numbers, bit for bit as if it were the fastest in memory."""
    rows = np.moveaxis(array, axis, 0)
    if name == "norm":
        rows = rows * rows
    total = _total(rows)
    total += 0  # NumPy starts from 0, so a sum is never -0
    if name == "mean":
        np.true_divide(total, np.intp(len(rows)), out=total, casting="unsafe")
    elif name == "norm":
        np.sqrt(total, out=total)
    return np.expand_dims(total, axis) if keepdims else total


def _total(rows: NDArray[Any]) -> NDArray[Any]:
    num_whole = len(rows) // _LANES * _LANES
    if not num_whole:
        return _one_after_another(rows[0].copy(), rows[1:])
    lanes = rows[:_LANES]
    if num_whole > _LANES:
        lanes = lanes + rows[_LANES : 2 * _LANES]  # a fresh array: the rows stay as they are
        for start in range(2 * _LANES, num_whole, _LANES):
            lanes += rows[start : start + _LANES]
    pairs = [lanes[lane] + lanes[lane + 1] for lane in range(0, _LANES, 2)]
    pairs[0] += pairs[1]
    pairs[2] += pairs[3]
    pairs[0] += pairs[2]
    return _one_after_another(pairs[0], rows[num_whole:])


def _one_after_another(total: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    for row in rows:
        total += row
    return total


@functools.cache
def agrees(name: str, dtype: np.dtype[np.generic], length: int) -> bool:
    """Whether this NumPy adds `length` numbers in that order; tried out on numbers for which any other order shows."""
    if length > LONGEST or dtype.kind != "f":
        return False
    rng = np.random.default_rng(length)
    rows = rng.standard_normal((300, length)) * np.exp2(rng.integers(-8, 8, (300, length)))
    rows[:4] = np.array([[0.0], [-0.0], [np.inf], [np.nan]])
    rows[4:30][rng.random((26, length)) < 0.2] = -0.0
    array = rows.astype(dtype)
    whole = np.linalg.norm(array, axis=1) if name == "norm" else getattr(array, name)(axis=1)
    with np.errstate(all="ignore"):
        side_by_side = short_reduction(name, np.asfortranarray(array), 1, False)
    return bool(side_by_side.tobytes() == whole.tobytes())
