"""The shape of every part of an expression, from the shapes of its leaves, without computing anything."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from argosy.tree.tiles.functions import Reduction
from argosy.tree.tiles.parse import CannotCut
from argosy.tree.tiles.parts import Apply, Part, Product, Reduce, View
from argosy.tree.tiles.view import keeps_elements, view_shape

Shape = tuple[int, ...]


def is_leaf(parts: Sequence[Part], place: int) -> bool:
    """Whether the part is there without computing: a variable, a constant, or a view of such."""
    part = parts[place]
    return is_leaf(parts, part.operand) if isinstance(part, View) else not isinstance(part, Apply | Reduce | Product)


def shapes_of(parts: Sequence[Part], leaves: Sequence[Any]) -> list[Shape]:
    """`leaves` has the value of each part that is a leaf. Raises CannotCut where NumPy raises, and for other views."""
    shapes: list[Shape] = []
    for place, part in enumerate(parts):
        shapes.append(_shape(part, shapes) if not is_leaf(parts, place) else np.shape(leaves[place]))
    return shapes


def _shape(part: Part, shapes: Sequence[Shape]) -> Shape:
    match part:
        case Apply(operands=operands):
            return broadcast([shapes[operand] for operand in operands])
        case Reduce(operand=operand, call=call):
            reduced = reduced_axes(call, len(shapes[operand]))
            if call.keepdims:
                return tuple(1 if axis in reduced else length for axis, length in enumerate(shapes[operand]))
            return tuple(length for axis, length in enumerate(shapes[operand]) if axis not in reduced)
        case Product(operands=(left, right)):
            return _product_shape(shapes[left], shapes[right])
        case View(operand=operand, index=index) if keeps_elements(index):
            if index is not None and len(index) - index.count(None) > len(shapes[operand]):
                raise CannotCut
            return view_shape(index, shapes[operand])
    raise CannotCut


def broadcast(shapes: Sequence[Shape]) -> Shape:
    ndim = max(map(len, shapes))
    result = [1] * ndim
    for shape in shapes:
        for axis, length in enumerate(shape, start=ndim - len(shape)):
            if length != 1:
                if result[axis] not in (1, length):
                    raise CannotCut
                result[axis] = length
    return tuple(result)


def reduced_axes(call: Reduction, ndim: int) -> frozenset[int]:
    """The axes that a reduction of an array with `ndim` axes takes away, counted from 0."""
    if call.axes is None:
        return frozenset(range(ndim))
    if not all(-ndim <= axis < ndim for axis in call.axes):
        raise CannotCut
    return frozenset(axis % ndim for axis in call.axes)


def _product_shape(left: Shape, right: Shape) -> Shape:
    if not (1 <= len(left) <= 2 and 1 <= len(right) <= 2) or left[-1] != right[0]:
        raise CannotCut
    return left[:-1] + right[1:]
