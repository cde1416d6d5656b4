"""One evaluation of an expression in tiles."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy.tree.tiles.corners import empty_like_corner, value_of
from argosy.tree.tiles.parse import CannotCut
from argosy.tree.tiles.parts import Apply, Part, Reduce, View, operands_of
from argosy.tree.tiles.plan import INTO_RESULT, Plan
from argosy.tree.tiles.shapes import reduced_axes
from argosy.tree.tiles.short_sums import short_reduction


class Cut:
    """An expression that is computed tile by tile, in any order, by any threads; each tile once, then the result.

    To make one computes what all tiles share (matrix products, what does not have the cut axis). It reads the variables
    where they are, and they must not change until the last tile is done. A tile that raises says only that something in
    the expression does: computed whole, it raises or warns as it should.
    """

    def __init__(self, parts: Sequence[Part], leaves: Sequence[Any], plan: Plan) -> None:
        self._parts = parts
        self._plan = plan
        self._result = empty_like_corner(plan.corner, plan.shape)
        self._values = list(leaves)
        with np.errstate(all="raise"):
            for place, strides in plan.whole:
                value = value_of(parts[place], self._values)
                if strides is not None and value.strides != strides:
                    raise CannotCut
                self._values[place] = value

    @property
    def num_tiles(self) -> int:
        return len(self._plan.bounds) - 1

    @property
    def is_arranged(self) -> bool:
        """Whether the cut axis is the fastest in the memory of a tile, though it is not in the whole's temporaries."""
        return self._plan.arranged

    def compute(self, tile: int) -> None:
        """Compute one tile and put it into the result."""
        plan = self._plan
        rows = slice(plan.bounds[tile], plan.bounds[tile + 1])
        values = self._values.copy()
        for place, axis in plan.sliced:
            values[place] = self._arrange(_rows(values[place], axis, rows), axis)
        target = _rows(self._result, plan.axis, rows)
        for place in plan.tiled:
            self._step(place, values, target)
        if plan.outs.get(plan.root) != INTO_RESULT:
            _store(values[plan.root], target, by_columns=plan.by_columns)

    def result(self) -> Any:
        """The value of the expression, when all tiles are there."""
        values: list[Any] = [None] * len(self._parts)
        values[self._plan.root] = self._result
        for place in range(self._plan.root + 1, len(self._parts)):
            values[place] = value_of(self._parts[place], values)
        return values[-1]

    def _step(self, place: int, values: list[Any], target: NDArray[Any]) -> None:
        part = self._parts[place]
        out = self._plan.outs.get(place)
        if isinstance(part, Apply) and part.ufunc is not None:
            arguments = [values[operand] for operand in part.operands]
            memory = target if out == INTO_RESULT else None if out is None else values[out]
            value = part.ufunc(*arguments, out=memory)
        elif isinstance(part, Reduce) and place in self._plan.short:
            operand = values[part.operand]
            (axis,) = reduced_axes(part.call, operand.ndim)
            value = short_reduction(part.call.name, operand, axis, part.call.keepdims)
        else:
            value = value_of(part, values)
        for operand in operands_of(part):
            values[operand] = None  # so that its memory, still in the cache, serves the next part
        axis_of_part = self._plan.marks[place]
        if out != INTO_RESULT and not isinstance(part, View) and axis_of_part is not None:
            value = self._arrange(value, axis_of_part)
        values[place] = value

    def _arrange(self, array: NDArray[Any], axis: int) -> NDArray[Any]:
        """In an arranged plan the same elements with the cut axis fastest in memory."""
        if not self._plan.arranged or array.ndim == 1 or array.strides[axis] == array.itemsize:
            return array
        order = [*(other for other in range(array.ndim) if other != axis), axis]
        room = np.empty([array.shape[other] for other in order], array.dtype)
        arranged = room.transpose(np.argsort(order))
        arranged[...] = array
        return arranged


def _rows(array: NDArray[Any], axis: int, rows: slice) -> NDArray[Any]:
    return array[(slice(None),) * axis + (rows,)]


def _store(value: NDArray[Any], target: NDArray[Any], *, by_columns: bool) -> None:
    """Copy a tile into the result; by columns where the fastest axis of the result is short."""
    if not by_columns:
        np.copyto(target, value, casting="no")
        return
    fastest = min(range(target.ndim), key=lambda axis: (target.strides[axis], target.shape[axis]))
    for to, what in zip(np.moveaxis(target, fastest, 0), np.moveaxis(value, fastest, 0), strict=True):
        np.copyto(to, what, casting="no")
