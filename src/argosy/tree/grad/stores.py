"""Stores into traced arrays: `a[i] = v`, `a += v`, `np.add.at(a, i, v)`.

A store writes the memory that is there, so that all views see it, and gives the root a new node. Values that the way
back needs and that lie in this memory are copied first. On the way back the gradient of the array stays in one
place, so a loop of n stores of a row costs n rows, not n arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType
from typing import Any

import numpy as np

from argosy.tree.grad.index import frozen_index, has_places, is_basic
from argosy.tree.grad.nodes import Back, Gradients, Node
from argosy.tree.grad.tape import refusal
from argosy.tree.grad.traced import Owner, Traced, innermost, shares

Path = Callable[[Any], Any]
"""From an array of the root's shape to the view of it that is written."""


def write(target: Traced, index: Any, value: Any, *, adding: bool = False) -> None:
    """`target[index] = value`; adding: `np.add.at(target, index, value)`."""
    if isinstance(value, Traced) and value.tape.ended:
        value = innermost(value)
    known = isinstance(value, Traced) and value.tape is target.tape
    node: Node | None = value.node if known else None
    _admit(target, value, node)
    root = target.root
    before = root.node
    root.before_write()
    held = value.value if known else value
    if adding:
        np.add.at(target.value, index, held)
    else:
        target.value[index] = held
    if node is None and before is None:
        root.written(None)
    elif not adding and target is root and node is not None and _is_all(index) and _alike(node, root.value):
        root.written(node)
    else:
        new = Node(root.value)
        new.back = _back(new, before, node, target.path(), frozen_index(index), adding)
        root.written(new)


def is_done(target: Traced, index: Any, value: Any) -> bool:
    """Is this the second half of `a[i] += v`, which the view `a[i]` has written already?"""
    if not (isinstance(value, Traced) and value.root is target.root and is_basic(index)):
        return False
    a, b = innermost(target.value[index]), innermost(value)
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        return False
    return a.shape == b.shape and a.strides == b.strides and a.ctypes.data == b.ctypes.data


def _admit(target: Traced, value: Any, node: Node | None) -> None:
    if isinstance(value, Traced) and value.tape.level > target.tape.level:
        raise refusal("a store into an array of an outer gradient", "make the array inside of the inner function")
    if target.root.owner is Owner.OUTSIDE and any(np.may_share_memory(innermost(target), a) for a in target.tape.lent):
        raise refusal("a store into an array from outside that is an argument too", "store into the argument")
    if node is None:
        return
    if target.dtype.kind != "f":
        raise refusal(f"a store of something traced into an array of {target.dtype}", "store into an array of floats")
    if target.root.owner is Owner.OUTSIDE:
        raise refusal("a store of something traced into an array from outside of the function", "store into a copy")
    if target.root.owner is Owner.SHARED:
        raise refusal("a store of something traced into an array that other code holds too", "store into a copy of it")


def _is_all(index: Any) -> bool:
    return isinstance(index, EllipsisType) or (isinstance(index, slice) and index == slice(None))


def _alike(node: Node, value: Any) -> bool:
    return bool(node.shape == value.shape and node.dtype == value.dtype)


def _back(new: Node, before: Node | None, node: Node | None, path: Path, index: Any, adding: bool) -> Back:
    def add(g: Any, gradients: Gradients) -> None:
        if node is not None:
            gradients.add(node, path(g)[index])
        if before is not None:
            gradients.add(before, g)

    def replace(g: Any, gradients: Gradients) -> None:
        g = gradients.own(g, new)
        region, at = path(g), index
        if not shares(region, g):  # a reshape that is a view of the array's layout, but not of g's
            g = gradients.copied(g, new)
            region, at = np.ravel(g), path(np.arange(g.size).reshape(g.shape))[index]
        if node is not None:
            taken = region[at] * _remaining(path(np.empty(g.shape, np.bool_)).shape, index)
            gradients.add(node, taken)
        if before is not None:
            region[at] = 0.0
            gradients.give(before, g)

    return add if adding else replace


def _remaining(shape: tuple[int, ...], index: Any) -> Any:
    """1 for each value that is still there after the store, 0 for one that a later value in it replaced."""
    if not has_places(index):
        return 1.0
    writer = np.zeros(shape, np.intp)
    numbers = np.arange(writer[index].size).reshape(writer[index].shape)
    writer[index] = numbers
    return writer[index] == numbers
