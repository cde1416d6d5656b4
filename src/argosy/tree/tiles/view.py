"""Basic subscripts: slices, integers and new axes, all with bounds that stand in the source."""

import ast
from collections.abc import Callable
from typing import TypeAlias

Basic: TypeAlias = tuple[slice | int | None, ...]

_ALL = slice(None)


def basic_index(subscript: ast.expr, is_newaxis: Callable[[ast.expr], bool]) -> Basic | None:
    """The subscript as a tuple that indexes an array; None if some of it is only known when the program runs."""
    index: list[slice | int | None] = []
    for item in subscript.elts if isinstance(subscript, ast.Tuple) else [subscript]:
        if is_newaxis(item):
            index.append(None)
            continue
        nodes = (item.lower, item.upper, item.step) if isinstance(item, ast.Slice) else (item,)
        try:
            bounds = [None if node is None else ast.literal_eval(node) for node in nodes]
        except ValueError:
            return None
        if not all(node is None or type(bound) is int for node, bound in zip(nodes, bounds, strict=True)):
            return None
        index.append(slice(*bounds) if isinstance(item, ast.Slice) else bounds[0])
    return tuple(index)


def keeps_elements(index: Basic | None) -> bool:
    """Whether the view has all elements of its operand, in the same order along each axis."""
    return index is None or all(item is None or item == _ALL for item in index)


def operand_axis(index: Basic | None, axis: int, ndim: int) -> int | None:
    """Which axis of an operand with `ndim` axes this axis of a view is that keeps all elements; None: a new one."""
    if index is None:
        return ndim - 1 - axis
    if axis < len(index) and index[axis] is None:
        return None
    return axis - index[:axis].count(None)


def view_shape(index: Basic | None, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a view that keeps all elements."""
    if index is None:
        return shape[::-1]
    lengths = iter(shape)
    return *(1 if item is None else next(lengths) for item in index), *lengths
