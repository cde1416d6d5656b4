"""Whether the tiles of an expression have the bits of the whole.

A tile keeps the strides of its leaves and the memory order of every temporary, so NumPy takes the same loops as for
the whole and adds up in the same order (as long as a tile has two rows: an axis of length 1 would drop out of that
order). What is left to ask is whether those loops treat every element alike. A tile may also be *arranged*, that is,
have the tiled axis fastest in memory instead; then the loops are others, and sums are taken in the order of the whole
by `short_sums`.
"""

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from argosy.tree.tiles import short_sums
from argosy.tree.tiles.corners import dense_strides, fastest_first
from argosy.tree.tiles.functions import ONLY_ONE_ANSWER, POWERS, SQUARE, STEPS_OF_REDUCTIONS, Cast
from argosy.tree.tiles.marks import Marks
from argosy.tree.tiles.parts import Apply, Part, Product, Reduce
from argosy.tree.tiles.shapes import Shape, is_leaf, reduced_axes
from argosy.tree.tiles.steady import Steadiness, is_same, steadiness

_FAR_NBYTES = 1 << 20  # with strides beyond this NumPy may take one element at a time

_WHOLE_NUMBERS = "biu"

_POWERS = (np.power, np.float_power)  # an exponent that stands for many may have a loop of its own


def memory_orders_are_certain(parts: Sequence[Part], shapes: Sequence[Shape], corners: Sequence[Any]) -> bool:
    """False where the memory order of a temporary depends on whether NumPy reuses an operand's memory for it.

    It does so for operators on large temporaries only, which a corner does not show.
    """
    for place, part in enumerate(parts):
        if isinstance(part, Apply) and part.is_operator and isinstance(corners[place], np.ndarray):
            for operand in part.operands:
                if (
                    isinstance(parts[operand], Apply | Reduce | Product)
                    and shapes[operand] == shapes[place]
                    and corners[operand].dtype == corners[place].dtype
                    and corners[operand].strides != corners[place].strides
                ):
                    return False
    return True


def bits_stay(
    parts: Sequence[Part], shapes: Sequence[Shape], corners: Sequence[Any], marks: Marks, *, arranged: bool
) -> bool:
    """Whether the parts that are cut as `marks` say have the same bits in tiles of at least two rows."""
    for place, part in enumerate(parts):
        if marks[place] is None:
            continue
        if is_leaf(parts, place) and arranged and isinstance(corners[place], np.ndarray):
            if any(
                stride <= 0 < length - 1 for stride, length in zip(corners[place].strides, shapes[place], strict=True)
            ):
                return False
        elif isinstance(part, Apply):
            if not _apply_stays(part, place, shapes, corners, arranged):
                return False
        elif isinstance(part, Reduce) and not _reduce_stays(part, place, shapes, corners, arranged):
            return False
    return True


def _apply_stays(part: Apply, place: int, shapes: Sequence[Shape], corners: Sequence[Any], arranged: bool) -> bool:
    operands = [corners[operand] for operand in part.operands]
    kinds = {getattr(value, "dtype", np.dtype(type(value))).kind for value in (*operands, corners[place])}
    if part.call == SQUARE and not is_same(SQUARE, np.square, operands[0].dtype):
        return False
    if part.call is np.where or kinds <= set(_WHOLE_NUMBERS):
        return True
    if arranged and "c" in kinds:
        return False
    fastest = next(axis for axis in fastest_first(corners[place]) if shapes[place][axis] > 1)
    needed = Steadiness.FORWARD
    for operand in part.operands:
        corner = corners[operand]
        if not isinstance(corner, np.ndarray) or corner.ndim == 0:
            continue
        if min(corner.strides) < 0:
            needed |= Steadiness.BACKWARD
        if shapes[operand] != shapes[place] or 0 in corner.strides:
            needed |= Steadiness.REPEATED
        axis = fastest - len(shapes[place]) + len(shapes[operand])
        if axis >= 0 and shapes[operand][axis] > 1:
            far = max(abs(corner.strides[axis]), dense_strides(corner, shapes[operand])[axis])
            if far > _FAR_NBYTES:
                return False
    return needed in _steadiness(part, operands, corners[place].dtype)


def _steadiness(part: Apply, operands: Sequence[Any], dtype: np.dtype[np.generic]) -> Steadiness:
    if part.ufunc is not None:
        given = tuple(getattr(value, "dtype", type(value)) for value in operands)
        loop = part.ufunc.resolve_dtypes((*(np.dtype(bool) if kind is bool else kind for kind in given), None))
        found = steadiness(part.ufunc, loop[:-1])
        return found & ~Steadiness.REPEATED if part.ufunc in _POWERS else found
    if part.call is operator.pow:
        if isinstance(operands[1], np.ndarray):
            return steadiness(operator.pow, (dtype, dtype)) & ~Steadiness.REPEATED
        return functools.reduce(operator.and_, (steadiness(power, (dtype,)) for power in POWERS))
    if isinstance(part.call, Cast):
        return steadiness(part.call, (operands[0].dtype,))
    return steadiness(part.call, (dtype,) * len(operands))


def _reduce_stays(part: Reduce, place: int, shapes: Sequence[Shape], corners: Sequence[Any], arranged: bool) -> bool:
    operand, result = corners[part.operand], corners[place]
    name = part.call.name
    if name in ONLY_ONE_ANSWER:
        return True
    if name != "norm" and operand.dtype.kind in _WHOLE_NUMBERS and result.dtype.kind in _WHOLE_NUMBERS:
        return True
    if operand.dtype != result.dtype or operand.dtype.kind in _WHOLE_NUMBERS:
        return False  # NumPy converts in pieces of its buffer, which lie otherwise in a tile
    if any(stride <= 0 < length - 1 for stride, length in zip(operand.strides, operand.shape, strict=True)):
        return False  # which axis NumPy takes first may then depend on the lengths
    dtype = operand.dtype
    if not all(Steadiness.FORWARD in steadiness(ufunc, (dtype,) * ufunc.nin) for ufunc in STEPS_OF_REDUCTIONS[name]):
        return False
    if not arranged:
        return True
    if len(reduced_axes(part.call, operand.ndim)) != 1 or dtype.kind == "c":
        return False
    if sums_along_fastest(part, shapes, corners):
        (axis,) = reduced_axes(part.call, operand.ndim)
        return name in ("sum", "mean", "norm") and short_sums.agrees(name, dtype, shapes[part.operand][axis])
    return True


def sums_along_fastest(part: Reduce, shapes: Sequence[Shape], corners: Sequence[Any]) -> bool:
    """Whether the whole reduces along the axis that is fastest in memory: there NumPy adds in pairs, else in order."""
    order = [axis for axis in fastest_first(corners[part.operand]) if shapes[part.operand][axis] > 1]
    return bool(order) and order[0] in reduced_axes(part.call, len(shapes[part.operand]))
