"""What an expression is about to overwrite, kept so that it can be put back."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from argosy.tree.kinds import holds_only_atoms

Saved = Callable[[], None]
"""Called, it puts the old contents back."""


def save(value: Any, index: Any = None, boxes_only: bool = False) -> list[Saved]:
    """Contents of an array (at an index), of a container and what it holds, of a generator."""
    found: list[Saved] = []
    _save(value, index, boxes_only, found, set())
    return found


def _save(value: Any, index: Any, boxes_only: bool, found: list[Saved], seen: set[int]) -> None:
    cls = type(value)
    if id(value) in seen:
        return
    seen.add(id(value))
    if cls is np.ndarray:
        if not boxes_only and value.flags.writeable:
            found.append(_array(value, index))
    elif cls is list or cls is dict or cls is set:
        found.append(_container(value, cls))
        _save_held(value.values() if cls is dict else value, boxes_only, found, seen)
    elif cls is tuple:
        _save_held(value, boxes_only, found, seen)
    elif cls is FunctionType:
        for cell in value.__closure__ or ():
            _save(cell.cell_contents, None, boxes_only, found, seen)
    elif cls is np.random.Generator:
        found.append(_generator(value))


def _save_held(held: Any, boxes_only: bool, found: list[Saved], seen: set[int]) -> None:
    if not holds_only_atoms(held):
        for element in held:
            _save(element, None, boxes_only, found, seen)


def _array(array: Any, index: Any) -> Saved:
    if index is None:
        view = array
    else:
        view = array[index]
        if type(view) is not np.ndarray:  # one element
            return lambda: array.__setitem__(index, view)
    old = view.copy()
    return lambda: np.copyto(view, old)


def _container(value: Any, cls: type) -> Saved:
    old = value.copy()

    def put_back() -> None:
        value.clear()
        value.extend(old) if cls is list else value.update(old)

    return put_back


def _generator(generator: Any) -> Saved:
    state = generator.bit_generator.state

    def put_back() -> None:
        generator.bit_generator.state = state

    return put_back


def save_global_generator() -> Saved:
    """The state of `numpy.random`'s own generator."""
    state = np.random.get_state()
    return lambda: np.random.set_state(state)
