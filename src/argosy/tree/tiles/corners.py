"""What NumPy makes of an expression, seen on a corner of its arrays: dtypes, and the memory order of each result.

The memory order of a result follows from the order of the strides of the operands and from which axes have length 1,
and so does not change when all longer axes are shortened to 2. The corner of an array is a view, so its strides are
those of the whole.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy.tree.tiles.functions import Cast
from argosy.tree.tiles.parse import CannotCut
from argosy.tree.tiles.parts import Apply, Part, Product, Reduce, View
from argosy.tree.tiles.shapes import Shape, is_leaf

_DTYPES = frozenset(np.dtype(code) for code in "?bBhHiIlLqQfdFD")
_CORNER = slice(2)


def is_known(value: object) -> bool:
    """Whether the bits of arithmetic with the value are understood: a plain array or a number, of a common dtype."""
    if type(value) is np.ndarray:
        return value.dtype in _DTYPES and value.flags.aligned
    if isinstance(value, np.generic):
        return value.dtype in _DTYPES
    return type(value) in (bool, int, float, complex)


def corners_of(parts: Sequence[Part], leaves: Sequence[object]) -> list[Any]:
    """The value of each part, computed on corners. Raises what NumPy raises, and CannotCut for unknown dtypes."""
    corners: list[Any] = []
    with np.errstate(all="ignore"):
        for place, part in enumerate(parts):
            corner: Any
            if is_leaf(parts, place):
                leaf = leaves[place]
                corner = leaf[(_CORNER,) * leaf.ndim] if isinstance(leaf, np.ndarray) else leaf
            elif warns(part, corners):
                raise CannotCut
            else:
                corner = value_of(part, corners)
            if not is_known(corner):
                raise CannotCut
            corners.append(corner)
    return corners


def warns(part: Part, corners: Sequence[Any]) -> bool:
    """Whether NumPy warns of the part, and would do so once more for the corner."""
    return (
        isinstance(part, Apply)
        and isinstance(part.call, Cast)
        and corners[part.operands[0]].dtype.kind == "c" != part.call.dtype.kind
    )


def value_of(part: Part, values: Sequence[Any]) -> Any:
    """A part as Python computes it, from the values of its operands."""
    match part:
        case Apply(operands=operands, call=call) | Product(operands=operands, call=call):
            return call(*(values[operand] for operand in operands))
        case Reduce(operand=operand, call=call):
            return call(values[operand])
        case View(operand=operand, index=index):
            return values[operand].T if index is None else values[operand][index]
    raise CannotCut


def empty_like_corner(corner: NDArray[Any], shape: Shape) -> NDArray[Any]:
    """A fresh array with the memory order of the corner."""
    strides = dense_strides(corner, shape)
    for order in ("C", "F", "K"):
        whole = np.empty_like(corner, shape=shape, order=order)
        if whole.strides == strides and corner.strides == dense_strides(corner, corner.shape):
            return whole
    raise CannotCut


def dense_strides(corner: NDArray[Any], shape: Shape) -> tuple[int, ...]:
    """The strides of an array without gaps whose axes follow one another in memory as the corner's do."""
    strides = [0] * len(shape)
    step = corner.itemsize
    for axis in fastest_first(corner):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def fastest_first(array: NDArray[Any]) -> list[int]:
    """The axes by their strides. Of two with the same stride the inner one has length 1."""
    return sorted(range(array.ndim), key=lambda axis: (abs(array.strides[axis]), array.shape[axis], -axis))
