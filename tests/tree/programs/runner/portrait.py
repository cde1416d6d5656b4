"""A portrait of values: equal for two runs only if nothing in Python could tell their values apart.

Numbers are kept as their bytes (the payload of a NaN, the sign of a zero), arrays with their type, dtype, shape,
strides and flags, containers in their order. An object met again is named by its number, so what is the same object in
one run must be the same object in the other, and arrays that share memory must share it at the same distance.
"""

from __future__ import annotations

import itertools
import struct
import types
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

_ATOMS = (bool, int, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice, np.dtype)


def portrait(roots: Iterable[Any]) -> tuple[Any, ...]:
    """Nested tuples of plain values for everything that can be reached from `roots`, and the memory they share."""
    painter = _Painter()
    shapes = tuple(painter.paint(root) for root in roots)
    return ("values", shapes), ("shared memory", painter.shared())


class _Painter:
    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []  # alive while painting, so that no id is given twice
        self._arrays: list[np.ndarray[Any, Any]] = []

    def paint(self, value: Any) -> Any:
        """The portrait of one value; it and what it holds are known from then on."""
        atom = _atom(value)
        if atom is not None:
            return atom
        if id(value) in self._numbers:
            return ("met before", self._numbers[id(value)])
        if not (type(value) is tuple and all(_atom(item) is not None for item in value)):  # constants may be folded
            self._numbers[id(value)] = len(self._numbers)
            self._kept.append(value)
        return (type(value).__qualname__, *self._inside(value))

    def shared(self) -> tuple[tuple[int, int, int], ...]:
        """Pairs of arrays that share memory, with the distance of their first elements in bytes."""
        pairs = itertools.combinations(enumerate(self._arrays), 2)
        return tuple((i, j, _address(b) - _address(a)) for (i, a), (j, b) in pairs if np.shares_memory(a, b))

    def _inside(self, value: Any) -> Iterable[Any]:
        match value:
            case np.ndarray():
                return self._array(value)
            case list() | tuple() | deque():
                return ("items", tuple(self.paint(item) for item in value), *self._attributes(value))
            case Mapping():
                return ("items", tuple((self.paint(key), self.paint(item)) for key, item in value.items()))
            case set() | frozenset():
                return ("items", tuple(self.paint(item) for item in value))
            case np.random.Generator():
                return ("state", self.paint(value.bit_generator.state))
            case types.FunctionType():
                cells = tuple(self.paint(cell.cell_contents) for cell in value.__closure__ or ())
                free = value.__code__.co_freevars
                return (value.__qualname__, self.paint(value.__defaults__), free, cells, *self._attributes(value))
            case types.MethodType():
                return (value.__func__.__qualname__, self.paint(value.__self__))
            case type() | types.BuiltinFunctionType() | np.ufunc() | types.ModuleType():
                return (getattr(value, "__qualname__", value.__name__),)
            case BaseException():
                return ("args", self.paint(value.args), *self._attributes(value))
        return tuple(self._attributes(value))

    def _array(self, value: np.ndarray[Any, Any]) -> Iterable[Any]:
        self._arrays.append(value)
        steps = tuple(step for step, size in zip(value.strides, value.shape, strict=True) if size > 1 and value.size)
        flags = (value.flags.writeable, value.flags.owndata)
        yield from (value.dtype.str, value.dtype.descr, value.shape, ("steps", steps), ("flags", flags))
        plain = value.view(np.ndarray)
        if value.dtype.hasobject:
            yield ("items", tuple(self.paint(item) for item in plain.ravel().tolist()))
        else:
            yield ("bytes", plain.tobytes(), repr(plain))
        yield from self._attributes(value)

    def _attributes(self, value: Any) -> Iterable[Any]:
        if getattr(value, "__dict__", None) and not isinstance(value, type):
            yield ("attributes", tuple((name, self.paint(item)) for name, item in vars(value).items()))
        names = [
            name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(value, name)
        ]
        if names:
            yield ("slots", tuple((name, self.paint(getattr(value, name))) for name in names))


def _atom(value: Any) -> tuple[Any, ...] | None:
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return ("scalar", value.dtype.str, value.tobytes(), repr(value))
    if type(value) in _ATOMS:
        return (type(value).__name__, repr(value))
    if type(value) is float:
        return ("float", struct.pack("<d", value), repr(value))
    if type(value) is complex:
        return ("complex", struct.pack("<dd", value.real, value.imag), repr(value))
    return None


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])
