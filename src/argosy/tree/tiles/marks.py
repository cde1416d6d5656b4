"""Where the tiled axis of the result runs through the parts of an expression."""

from collections.abc import Sequence

from argosy.tree.tiles.functions import Reduction
from argosy.tree.tiles.parts import Apply, Part, Reduce, View
from argosy.tree.tiles.shapes import Shape, is_leaf, reduced_axes
from argosy.tree.tiles.view import operand_axis

Marks = list[int | None]
"""For each part the axis along which it is cut; None: it is the same for all tiles."""


def marks_of(parts: Sequence[Part], shapes: Sequence[Shape], root: int, axis: int) -> Marks:
    """The marks when the part `root` is cut along an axis. Parts after it, and those below an uncut one, have None."""
    marks: Marks = [None] * len(parts)
    marks[root] = axis
    for place in range(root, -1, -1):
        mark = marks[place]
        if mark is None or is_leaf(parts, place):
            continue
        match parts[place]:
            case Apply(operands=operands):
                for operand in operands:
                    below = mark - len(shapes[place]) + len(shapes[operand])
                    marks[operand] = below if below >= 0 and shapes[operand][below] > 1 else None
            case Reduce(operand=operand, call=call):
                marks[operand] = _kept_axis(call, len(shapes[operand]), mark)
            case View(operand=operand, index=index):
                marks[operand] = operand_axis(index, mark, len(shapes[operand]))
            case _:  # a matrix product is computed whole, and its result cut
                pass
    return marks


def _kept_axis(call: Reduction, ndim: int, axis: int) -> int:
    """Which axis of the operand is this axis of the reduction's result."""
    if call.keepdims:
        return axis
    reduced = reduced_axes(call, ndim)
    return [before for before in range(ndim) if before not in reduced][axis]
