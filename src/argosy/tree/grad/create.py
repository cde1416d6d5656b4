"""Functions that make arrays and numbers, and that NumPy's protocols do not reach.

The function whose gradient is taken gets these in place of NumPy's, of `math`'s and of `float`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from argosy.tree.grad.calls import elementwise
from argosy.tree.grad.record import apply, by, fresh
from argosy.tree.grad.rules.shapes import copy
from argosy.tree.grad.tables import FUNCTIONS, METHODS
from argosy.tree.grad.tape import refusal, tapes
from argosy.tree.grad.traced import Owner, Traced, innermost, is_array, is_plain_array

_SEQUENCES = {np.concatenate, np.stack, np.vstack, np.hstack, np.column_stack, np.dstack, np.block, np.einsum}


def guest(array: Any) -> Any:
    """An array from outside, wrapped: always the same wrapper, so that what was stored is found again."""
    for tape in tapes():
        known = tape.guests.get(id(array))
        if known is None:
            known = tape.guests[id(array)] = (array, Traced(tape, array, owner=Owner.OUTSIDE))
        array = known[1]
    return array


@functools.lru_cache(4096)
def instead(function: Any) -> Any:
    """What the function gets for one of NumPy's or `math`'s."""
    if function in _INSTEAD:
        return _INSTEAD[function]
    module = getattr(function, "__module__", None) or ""
    if module == "math":
        return _scalar(function)
    if isinstance(function, np.ufunc):
        return function
    owner = getattr(function, "__self__", None)
    if module.startswith("numpy") or type(owner).__module__.startswith("numpy"):
        return _wrapping(function)
    return function


def _wrapping(function: Any) -> Callable[..., Any]:
    """A function of NumPy that gives wrapped arrays."""
    listed = function not in _SEQUENCES

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if listed:
            args = tuple(array(a) if isinstance(a, list | tuple) and _holds_traced(a) else a for a in args)
        return _wrapped(function(*args, **kwargs), args)

    return call


def _wrapped(value: Any, args: tuple[Any, ...]) -> Any:
    if isinstance(value, list | tuple) and any(is_plain_array(v) for v in value):
        parts = [_wrapped(v, args) for v in value]
        return type(value)(parts) if type(value) in (list, tuple) else type(value)(*parts)
    if not is_plain_array(value):
        return value
    if any(is_plain_array(a) and np.may_share_memory(a, value) for a in args):
        return guest(value)
    return fresh(value)


def _holds_traced(x: Any) -> bool:
    return isinstance(x, Traced) or (isinstance(x, list | tuple) and any(_holds_traced(each) for each in x))


def array(object: Any, dtype: Any = None, **options: Any) -> Any:  # noqa: A002 (the name is NumPy's)
    """`np.array`, of nested lists with traced numbers in them too."""
    if not _holds_traced(object):
        if is_plain_array(object) and not options.get("copy", True):
            return _asarray(object, dtype)
        return fresh(np.array(object, dtype, **options))
    if dtype is not None and np.dtype(dtype).kind == "O":
        raise refusal("an object array of something traced", "keep it in a list")
    if not options.pop("copy", True):
        return _asarray(object, dtype)
    if options:
        raise refusal(f"np.array of something traced with {', '.join(options)}=", "reshape the array instead")
    if type(object) is not Traced:
        made = np.stack([array(each) for each in object])
    elif is_array(object):
        made = np.copy(object)
    else:
        made = fresh(np.empty((), object.dtype))
        made[...] = object
    return made if dtype is None or made.dtype == np.dtype(dtype) else made.astype(dtype)


def _asarray(a: Any, dtype: Any = None, **options: Any) -> Any:
    if options.get("copy"):
        return array(a, dtype, **options)
    if type(a) is Traced and is_array(a) and (dtype is None or a.dtype == np.dtype(dtype)):
        return a
    if is_plain_array(a):
        made = np.asarray(a, dtype, **options)
        return guest(made) if made is a else fresh(made)
    return array(a, dtype, **options)


def _ordered(flag: str, a: Any, dtype: Any = None) -> Any:
    found = _asarray(a, dtype)
    return found if innermost(found).flags[flag] else copy(found, flag[0])


def _full(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    if not isinstance(fill_value, Traced):
        return fresh(np.full(shape, fill_value, dtype, **options))
    out = fresh(np.empty(shape, dtype or fill_value.dtype, **options))
    out[...] = fill_value
    return out


def _isscalar(element: Any) -> bool:
    return np.isscalar(innermost(element))


class _StandIn(type):
    """The class of one that stands for a builtin class: equal to it, and with the same instances."""

    stands_for: type

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.stands_for)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, cls.stands_for)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.stands_for

    def __hash__(cls) -> int:
        return hash(cls.stands_for)


class _TypeType(_StandIn):
    def __call__(cls, *args: Any, **options: Any) -> Any:
        if len(args) > 1:
            return type(*args, **options)
        found = type(innermost(args[0]))
        return Float if found is float else Type if found is type else found


class Type(type, metaclass=_TypeType):
    """What `type` means to the function: the type of what is held."""

    stands_for = type


class _FloatType(_StandIn):
    def __call__(cls, value: Any = 0.0) -> Any:
        if not isinstance(value, Traced):
            return float(value)
        return apply(Float, (by(lambda g: g),), (METHODS["item"](value),))


class Float(float, metaclass=_FloatType):
    """What `float` means to the function: a traced number stays traced. As a dtype it is float64."""

    stands_for = float
    dtype = np.dtype(float)


_MATH: dict[str, np.ufunc] = {
    name: getattr(np, name)
    for name in (
        "exp", "expm1", "exp2", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh", "tanh",
        "fabs", "hypot", "isnan", "isinf", "isfinite",
    )
}  # fmt: skip
_MATH |= {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "pow": np.power, "log": np.log}


def _scalar(function: Any) -> Any:
    """A function of `math`, which takes traced numbers too; one that has no counterpart refuses them by itself."""
    ufunc = _MATH.get(function.__name__)
    if ufunc is None:
        return function

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        if not any(isinstance(a, Traced) for a in args):
            return function(*args)
        if function is math.log and len(args) == 2:
            return call(args[0]) / call(args[1])
        return elementwise(ufunc, call, args)

    return call


_INSTEAD: dict[Any, Any] = {
    np.array: array,
    np.asarray: _asarray,
    np.asanyarray: _asarray,
    np.ascontiguousarray: functools.partial(_ordered, "C_CONTIGUOUS"),
    np.asfortranarray: functools.partial(_ordered, "F_CONTIGUOUS"),
    np.full: _full,
    np.isscalar: _isscalar,
}
FUNCTIONS[np.array] = array
