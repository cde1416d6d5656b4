"""How an expression is cut for arrays of given shapes, strides and dtypes: along which axis, and into which tiles."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy.tree.tiles.bits import bits_stay, memory_orders_are_certain, sums_along_fastest
from argosy.tree.tiles.corners import corners_of, dense_strides, fastest_first
from argosy.tree.tiles.marks import Marks, marks_of
from argosy.tree.tiles.parse import CannotCut
from argosy.tree.tiles.parts import Apply, Part, Product, Reduce, View, operands_of
from argosy.tree.tiles.shapes import Shape, is_leaf, shapes_of

INTO_RESULT = -1
NBYTES_PER_ELEMENT = 16  # at most


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """When an expression is worth cutting, and how finely."""

    min_nbytes: int = 8 << 20
    """What the parts that are cut must read or write, taken together: about half a millisecond of work."""
    tile_nbytes: int = 1 << 20
    """The widest temporary of a tile: it stays in the cache, and the calls of NumPy are few."""
    rows_multiple: int = 64
    """Tiles are a multiple of so many rows where they have as many: whole vectors."""
    short_axis: int = 32
    """A fastest axis shorter than this is slow in NumPy's loops, so tiles are arranged otherwise."""
    short_result_axis: int = 5
    """The same where it is the fastest axis of the result, too, so that a tile is put there column by column."""
    tiles_per_thread: int = 2


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """One way to cut; it holds for all values with the same shapes, strides and dtypes."""

    root: int
    """The part that is computed in tiles; those after it are views of it."""
    marks: Marks
    axis: int
    bounds: tuple[int, ...]
    """Tile i has the rows from bounds[i] up to bounds[i + 1]."""
    arranged: bool
    """In a tile the cut axis is the fastest in memory."""
    by_columns: bool
    """It is not so in the result, whose fastest axis is short."""
    corner: NDArray[Any]
    shape: Shape
    whole: tuple[tuple[int, tuple[int, ...] | None], ...]
    """The parts to compute before any tile, in order, with the strides that are expected of them."""
    sliced: tuple[tuple[int, int], ...]
    """The parts that are there before any tile and of which each tile takes its rows, along this axis."""
    tiled: tuple[int, ...]
    """The parts to compute for each tile, in order."""
    outs: dict[int, int]
    """Of these, what is computed in the memory of which operand, or in the result's."""
    short: frozenset[int]
    """Reductions whose order of additions is that of another memory order."""


def plan(parts: Sequence[Part], leaves: Sequence[object], threads: int, limits: Limits) -> Plan:
    """Raises CannotCut when the expression is better computed whole, and whatever NumPy raises for its corner."""
    root = len(parts) - 1
    while isinstance(part := parts[root], View):
        root = part.operand
    shapes = shapes_of(parts, leaves)
    if max(map(_size, shapes)) * NBYTES_PER_ELEMENT * len(parts) < limits.min_nbytes or any(
        0 in shape for shape in shapes
    ):
        raise CannotCut
    corners = corners_of(parts, leaves)
    if not isinstance(corners[root], np.ndarray) or not memory_orders_are_certain(parts, shapes, corners):
        raise CannotCut
    marks, axis, rows, arranged = _best_axis(parts, shapes, corners, root, threads, limits)
    by_columns = arranged and axis != _fastest_axis(corners[root], shapes[root])
    computed = [place for place in range(root + 1) if not is_leaf(parts, place)]
    tiled = tuple(p for p in computed if marks[p] is not None and not isinstance(parts[p], Product))
    wanted = {operand for place in tiled for operand in operands_of(parts[place])} - set(tiled)
    whole = _with_operands(parts, wanted)
    return Plan(
        root=root,
        marks=marks,
        axis=axis,
        bounds=_bounds(shapes[root][axis], rows),
        arranged=arranged,
        by_columns=by_columns,
        corner=corners[root],
        shape=shapes[root],
        whole=tuple((p, _expected_strides(parts[p], corners[p], shapes[p])) for p in sorted(whole)),
        sliced=tuple((p, mark) for p in sorted(wanted) if (mark := marks[p]) is not None),
        tiled=tiled,
        outs=_outs(parts, shapes, corners, tiled, None if by_columns else root),
        short=frozenset(
            place
            for place in tiled
            if arranged
            and isinstance(part := parts[place], Reduce)
            and part.call.name in ("sum", "mean", "norm")
            and corners[place].dtype.kind == "f"
            and sums_along_fastest(part, shapes, corners)
        ),
    )


def _best_axis(
    parts: Sequence[Part], shapes: Sequence[Shape], corners: Sequence[Any], root: int, threads: int, limits: Limits
) -> tuple[Marks, int, int, bool]:
    """The slowest axis with tiles of the right size that cuts nearly all there is; else that with the finest rows."""
    choices = []
    fastest = _fastest_axis(corners[root], shapes[root])
    for axis in reversed(fastest_first(corners[root])):
        length = shapes[root][axis]
        if length < 2 * limits.tiles_per_thread * threads:
            continue
        marks = marks_of(parts, shapes, root, axis)
        nbytes = [
            max(_nbytes(shapes[place], corners[place]), *(_nbytes(shapes[o], corners[o]) for o in operands_of(part)))
            for place, part in enumerate(parts)
            if marks[place] is not None and isinstance(part, Apply | Reduce)
        ]
        rows = min(limits.tile_nbytes // -(-max(nbytes) // length), length // (limits.tiles_per_thread * threads))
        short_axis = limits.short_axis if axis == fastest else limits.short_result_axis
        arranged = _has_short_axis(parts, shapes, corners, marks, short_axis)
        arranged = arranged and bits_stay(parts, shapes, corners, marks, arranged=True)
        if sum(nbytes) >= limits.min_nbytes and (arranged or bits_stay(parts, shapes, corners, marks, arranged=False)):
            choices.append((sum(nbytes), rows, marks, axis, arranged))
    if not choices:
        raise CannotCut
    most = max(choice[0] for choice in choices)
    choices = [choice for choice in choices if choice[0] >= 0.9 * most]
    good = [c for c in choices if c[1] >= (limits.rows_multiple if c[4] or c[3] == fastest else 2)]
    _, rows, marks, axis, arranged = good[0] if good else max(choices, key=lambda choice: choice[1])
    if rows >= limits.rows_multiple:
        rows -= rows % limits.rows_multiple
    return marks, axis, max(rows, 2), arranged


def _has_short_axis(
    parts: Sequence[Part], shapes: Sequence[Shape], corners: Sequence[Any], marks: Marks, short_axis: int
) -> bool:
    """Whether NumPy's inner loops over something that is cut would be short, though they need not be."""
    for place, part in enumerate(parts):
        if isinstance(part, Apply | Reduce) and marks[place] is not None:
            widest = part.operand if isinstance(part, Reduce) else place
            fastest = _fastest_axis(corners[widest], shapes[widest])
            if fastest != marks[widest] and shapes[widest][fastest] < short_axis:
                return True
    return False


def _outs(
    parts: Sequence[Part],
    shapes: Sequence[Shape],
    corners: Sequence[Any],
    tiled: Sequence[int],
    into_result: int | None,
) -> dict[int, int]:
    outs: dict[int, int] = {}
    for place in tiled:
        part = parts[place]
        if not isinstance(part, Apply) or part.ufunc is None:
            continue
        if place == into_result:
            outs[place] = INTO_RESULT
            continue
        for operand in part.operands:
            if (
                operand in tiled
                and isinstance(parts[operand], Apply | Reduce)
                and shapes[operand] == shapes[place]
                and corners[operand].dtype == corners[place].dtype
                and corners[operand].strides == corners[place].strides
            ):
                outs[place] = operand
                break
    return outs


def _bounds(length: int, rows: int) -> tuple[int, ...]:
    """No tile has fewer than two rows."""
    starts = list(range(0, length, rows))
    if length - starts[-1] < 2 and len(starts) > 1:
        starts.pop()
    return (*starts, length)


def _with_operands(parts: Sequence[Part], places: set[int]) -> set[int]:
    """What has to be computed for these parts, leaves left out."""
    computed = {place for place in places if not is_leaf(parts, place)}
    for place in tuple(computed):
        computed |= _with_operands(parts, set(operands_of(parts[place])))
    return computed


def _expected_strides(part: Part, corner: Any, shape: Shape) -> tuple[int, ...] | None:
    return dense_strides(corner, shape) if isinstance(corner, np.ndarray) and not isinstance(part, View) else None


def _fastest_axis(corner: Any, shape: Shape) -> int:
    """Along which NumPy's inner loop runs; axes of length 1 are none."""
    return next((axis for axis in fastest_first(corner) if shape[axis] > 1), 0)


def _size(shape: Shape) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


def _nbytes(shape: Shape, corner: Any) -> int:
    return _size(shape) * (corner.itemsize if isinstance(corner, np.ndarray) else 0)
