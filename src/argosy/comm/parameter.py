"""The parameter `comm`: a function that has it gets a communicator, wherever among the parameters it stands."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NamedTuple

COMM = "comm"
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Filled(NamedTuple):
    """A call that is complete but for the communicator, which stands where it belongs."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def fill(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], comm: Any) -> Filled | None:
    """`fn(*args, **kwargs)` with `comm` put in by name, or None when the function has no such parameter.

    A partial is taken apart, so that `partial(f, 3)` of `f(comm, x)` means `x=3`. A decorator is looked through if it
    passes on what it is given. Raises a `TypeError` when the call gives a communicator itself, or does not fit.
    """
    if not _may_want(fn):
        return None
    base, args, kwargs = _taken_apart(fn, args, kwargs)
    found = _signature(base)
    if found is None:
        return None
    signature, exact = found
    if COMM in kwargs:
        raise TypeError(
            f"{_name(base)}() is given comm by whoever runs it, so a call must not give it; leave comm= out, "
            "or name the parameter otherwise"
        )
    rest = [parameter for name, parameter in signature.parameters.items() if name != COMM]
    try:
        signature.replace(parameters=rest).bind(*args, **kwargs)
    except TypeError as error:
        if not exact and _takes_keywords(base):  # a decorator may add arguments of its own
            return Filled(base, args, kwargs | {COMM: comm})
        takes = str(signature.replace(parameters=rest, return_annotation=inspect.Signature.empty))
        raise TypeError(f"{_name(base)}(): {error}; it takes {takes}, and comm by itself") from None
    at = list(signature.parameters).index(COMM)
    kind = signature.parameters[COMM].kind
    if kind is inspect.Parameter.KEYWORD_ONLY:
        if not exact and not _takes_keywords(base):
            raise TypeError(f"{_name(base)}() takes comm by keyword, but a decorator above it passes on no keywords")
        return Filled(base, args, kwargs | {COMM: comm})
    if len(args) > at:
        return Filled(base, (*args[:at], comm, *args[at:]), kwargs)
    if kind is inspect.Parameter.POSITIONAL_ONLY or (not exact and not _takes_keywords(base)):
        before = list(signature.parameters.values())[len(args) : at]
        return Filled(base, (*args, *(parameter.default for parameter in before), comm), kwargs)
    return Filled(base, args, kwargs | {COMM: comm})


def by_keyword(fn: Callable[..., Any]) -> inspect.Signature | None:
    """The signature of what takes `comm` by keyword alone on behalf of this function; None when it has no `comm`."""
    found = _signature(fn)
    if found is None:
        return None
    parameters = found[0].parameters
    rest = [parameter for name, parameter in parameters.items() if name != COMM]
    last = len(rest) - bool(rest and rest[-1].kind is inspect.Parameter.VAR_KEYWORD)
    rest.insert(last, parameters[COMM].replace(kind=inspect.Parameter.KEYWORD_ONLY))
    return found[0].replace(parameters=rest)


def _may_want(fn: Callable[..., Any]) -> bool:
    """Quick, for the many functions that do not."""
    fn = fn.__func__ if type(fn) is MethodType else fn
    if type(fn) is BuiltinFunctionType:
        return False
    if type(fn) is not FunctionType or "__wrapped__" in fn.__dict__ or "__signature__" in fn.__dict__:
        return True
    code = fn.__code__
    return COMM in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _taken_apart(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """What a partial calls, with all that it is to be called with."""
    base = fn
    while isinstance(base, functools.partial) and type(base).__call__ is functools.partial.__call__:
        args, kwargs = (*base.args, *args), base.keywords | kwargs
        base = base.func
    return base, args, kwargs


def _signature(fn: Callable[..., Any]) -> tuple[inspect.Signature, bool] | None:
    """The signature with the parameter in it, and whether it is certain; None when there is no such parameter."""
    own = _asked(fn, follow_wrapped=False)
    if own is not None and _has_comm(own):
        return own, True
    if not hasattr(fn, "__wrapped__"):
        return None
    inner = _asked(fn, follow_wrapped=True)
    if inner is None or not _has_comm(inner):
        return None
    passes_on = own is None or any(parameter.kind in _VARIADIC for parameter in own.parameters.values())
    return (inner, False) if passes_on else None


def _asked(fn: Callable[..., Any], *, follow_wrapped: bool) -> inspect.Signature | None:
    try:
        return inspect.signature(fn, follow_wrapped=follow_wrapped)
    except Exception:
        return None  # a builtin that does not tell, or an object whose own code fails when it is asked


def _has_comm(signature: inspect.Signature) -> bool:
    parameter = signature.parameters.get(COMM)
    return parameter is not None and parameter.kind not in _VARIADIC


def _takes_keywords(fn: Callable[..., Any]) -> bool:
    own = _asked(fn, follow_wrapped=False)
    return own is None or any(one.kind is inspect.Parameter.VAR_KEYWORD for one in own.parameters.values())


def _name(fn: Callable[..., Any]) -> str:
    name = getattr(fn, "__qualname__", None)
    return name if isinstance(name, str) else type(fn).__qualname__
