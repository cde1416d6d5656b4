"""The world as the function sees it while its gradient is taken.

The function and the helpers it calls run as they are, from their own code, but look their names up elsewhere: NumPy's
functions give wrapped arrays, so that a store into `np.zeros(n)` is seen; `math` and `float` take traced numbers; a
helper of the user's is seen the same way in turn. Code of installed libraries and methods of the user's classes run
untouched: they are followed through NumPy's protocols, and refused where something traced would be lost.
"""

from __future__ import annotations

import builtins
import dis
import functools
import importlib
import sysconfig
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from argosy.tree.grad.create import Float, Type, guest, instead
from argosy.tree.grad.tape import refusal
from argosy.tree.grad.traced import Traced

_LIBRARIES = ("<frozen ", *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")))
_NUMPY_FUNCTION = (FunctionType, BuiltinFunctionType, type(np.sum))


class World:
    """One call's view of everything outside of the function."""

    def __init__(self) -> None:
        self._functions: dict[int, tuple[Any, Any]] = {}
        self._globals: dict[int, _Globals] = {}
        self._builtins = {**vars(builtins), "float": Float, "type": Type, "__import__": self._import}

    def see(self, value: Any) -> Any:
        """What the function gets when it looks up `value`."""
        if type(value) is Traced or isinstance(value, type):
            return value
        if isinstance(value, np.ndarray):
            return guest(value)
        if isinstance(value, ModuleType):
            return _Module(value, self)
        if callable(value):
            return self._callable(value)
        if type(value) is tuple:
            return tuple(self.see(each) for each in value)
        return value

    def _callable(self, value: Any) -> Any:
        known = self._functions.get(id(value))
        if known is not None:
            return known[1]
        if isinstance(value, BuiltinFunctionType | np.ufunc) or _is_numpy(value):
            seen = instead(value)
        elif isinstance(value, FunctionType):
            return self._function(value)
        elif isinstance(value, MethodType):
            seen = MethodType(self.see(value.__func__), value.__self__)
        elif isinstance(value, functools.partial):
            seen = functools.partial(
                self.see(value.func),
                *(self.see(a) for a in value.args),
                **{k: self.see(a) for k, a in value.keywords.items()},
            )
        elif isinstance(value, functools._lru_cache_wrapper):
            seen = self.see(value.__wrapped__)
        elif (inner := plain(value)) is not value:
            seen = self.see(inner)
        else:
            seen = value
        self._functions[id(value)] = (value, seen)
        return seen

    def _function(self, function: FunctionType) -> Any:
        if isinstance(function.__globals__, _Globals) or _is_library(function):
            return function
        _check_stores(function.__code__)
        here = self._globals.get(id(function.__globals__))
        if here is None:
            here = self._globals[id(function.__globals__)] = _Globals(function.__globals__, self)
        cells = tuple(CellType() for _ in function.__closure__ or ())
        seen = FunctionType(function.__code__, here, function.__name__, None, cells or None)
        self._functions[id(function)] = (function, seen)  # before looking into the cells: it may be in one itself
        for new, old in zip(cells, function.__closure__ or (), strict=True):
            try:
                new.cell_contents = self.see(old.cell_contents)
            except ValueError:  # the name has no value yet, and Python says so when it is read
                continue
        seen.__defaults__ = self.see(function.__defaults__)
        if function.__kwdefaults__:
            seen.__kwdefaults__ = {k: self.see(v) for k, v in function.__kwdefaults__.items()}
        seen.__qualname__ = function.__qualname__
        seen.__dict__.update(function.__dict__)
        return seen

    def _import(self, name: str, *args: Any) -> Any:
        return self.see(importlib.__import__(name, *args))


class _Globals(dict[str, Any]):
    """The globals of a function, seen. Python looks names up here, and asks `__missing__` for what is not there yet."""

    def __init__(self, names: dict[str, Any], world: World) -> None:
        super().__init__({"__builtins__": world._builtins, "__name__": names.get("__name__", "")})
        self._names = names
        self._world = world

    def __missing__(self, name: str) -> Any:
        value = self._names[name]
        seen = self._world.see(value)
        if callable(value) or isinstance(value, ModuleType):
            self[name] = seen
        return seen


class _Module:
    """A module whose attributes are seen."""

    def __init__(self, module: ModuleType, world: World) -> None:
        self._module = module
        self._world = world

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        seen = self._world.see(value)
        if callable(value) or isinstance(value, ModuleType):
            setattr(self, name, seen)
        return seen

    def __repr__(self) -> str:
        return repr(self._module)


def plain(function: Any) -> Any:
    """The undecorated function of a futurized one; any other as it is."""
    if type(function).__module__.startswith("argosy.") and hasattr(function, "plain"):
        return function.plain
    return function


def _is_library(function: FunctionType) -> bool:
    module = (function.__module__ or "").partition(".")[0]
    return module == "argosy" or function.__code__.co_filename.startswith(_LIBRARIES)


def _is_numpy(value: Any) -> bool:
    return isinstance(value, _NUMPY_FUNCTION) and str(value.__module__).partition(".")[0] == "numpy"


@functools.lru_cache(4096)
def _check_stores(code: CodeType, outer: frozenset[str] | None = None) -> None:
    """The function runs with a view of its globals and closure, so it must not assign them."""
    free = frozenset(code.co_freevars) if outer is None else outer - frozenset(code.co_cellvars)
    for op in dis.get_instructions(code):
        is_global = op.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")
        if is_global or (op.opname in ("STORE_DEREF", "DELETE_DEREF") and op.argval in free):
            raise refusal(
                f"{code.co_name} assigns {op.argval!r}, a variable from outside of it", "return the value instead"
            )
    for each in code.co_consts:
        if isinstance(each, CodeType):
            _check_stores(each, free)
