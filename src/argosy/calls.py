"""What a call does that its caller can see: declared beside the function, for whoever would run it at another time.

A callable says it by an attribute `__argosy_call__`; of a bound method its function is asked, of an object that can be
called the object itself. A class whose instances never change, as seen from outside, says so by `__argosy_value__ =
True`: making one and reading its attributes changes nothing. Which of its methods are pure and quick stands in
`__argosy_pure__`, a frozenset of their names, operators as `__add__`; a method that waits is marked itself. What says
nothing may do anything. `value` and `declared` are the decorators for all that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from types import FunctionType
from typing import TypeVar

_Function = TypeVar("_Function", bound=Callable[..., object])
_Class = TypeVar("_Class", bound=type)
_MAKES_OR_CHANGES = frozenset({"__init__", "__post_init__", "__setattr__", "__delattr__", "__setstate__"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """What calls of one function have in common."""

    waits: bool = False
    """It spends its time waiting for the ranks of the open pilot, to which its arguments travel as copies. Where no
    pilot is open it is done in this process, by the caller's thread, and then anything that the user's functions do may
    be seen."""
    pure: bool = True
    """It changes nothing that the caller can see: arguments that are plain data, arrays or values are only read, and
    the result is new. Of a generator or an open file nobody can promise that, unless it travels."""
    shows_with: frozenset[str] = frozenset()
    """Keywords with which it is not pure after all: they name a file that it writes, or what it shares with others."""

    def is_pure_with(self, keywords: Collection[str]) -> bool:
        """Whether a call that gives these keywords, whatever their values, is pure."""
        return self.pure and self.shows_with.isdisjoint(keywords)


PURE = Call()
"""Quick, and changes nothing."""
WAITS = Call(waits=True)
"""Changes nothing, and its work is done by the ranks of a pilot."""


def declared(call: Call) -> Callable[[_Function], _Function]:
    """A decorator: calls of this function are like that."""

    def mark(function: _Function) -> _Function:
        function.__argosy_call__ = call  # type: ignore[attr-defined]
        return function

    return mark


def value(*pure: str) -> Callable[[_Class], _Class]:
    """A class decorator: instances never change. These methods only make new values: all of its own, unless named."""

    def mark(kind: _Class) -> _Class:
        own = {
            name
            for name, member in vars(kind).items()
            if isinstance(member, FunctionType) and (name[0] != "_" or name[:2] == name[-2:] == "__")
        }
        inherited: frozenset[str] = getattr(kind, "__argosy_pure__", frozenset())
        kind.__argosy_value__ = True  # type: ignore[attr-defined]
        kind.__argosy_pure__ = inherited | (frozenset(pure) or own - _MAKES_OR_CHANGES)  # type: ignore[attr-defined]
        _values[kind.__name__] = kind
        return kind

    return mark


def result_of(member: object) -> type | None:
    """The class of what a declared function, method or property gives, where its annotation names a value of ours."""
    function = member.fget if isinstance(member, property) else member
    return _values.get(getattr(function, "__annotations__", {}).get("return", ""))


_values: dict[str, type] = {}
"""By name: modules that import one another name each other's classes for type checkers only."""
