"""Kinds of arguments: what of a value must be taken, what may be, and what must be refused."""

from __future__ import annotations

import math
import operator
import os
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

Meaning = Literal["same", "open", "wrong"]
"""It means what the valid value does; it may be right or not; nobody can mean it."""
Kind = Callable[[Any], bool]
"""Whether a value may be right."""


@dataclass(frozen=True, kw_only=True)
class Argument:
    valid: Any
    kind: Kind
    named: tuple[str, ...] = ()
    """Words that name it in an error, besides its own name."""
    fresh: bool = False
    """`valid` is a function that makes the value, since it can be used once only."""

    def value(self) -> Any:
        return self.valid() if self.fresh else self.valid

    def meaning(self, value: Any) -> Meaning:
        try:
            allowed = self.kind(value)
        except Exception:  # of the value's own
            return "wrong"
        if not allowed:
            return "wrong"
        return "same" if self.is_same(value) else "open"

    def is_same(self, value: Any) -> bool:
        if self.fresh:
            return False
        valid = self.valid
        if isinstance(valid, bool):
            return isinstance(value, (bool, np.bool_)) and bool(value) == valid
        if self.kind is anything and type(value) is not type(valid):
            return False
        if isinstance(valid, (int, float)):
            alike = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))
            return alike and (float(value) == valid if isinstance(valid, float) else value == valid)
        return isinstance(valid, str) and isinstance(value, str) and str(value) == valid


def a(valid: Any, kind: Kind, *named: str) -> Argument:
    return Argument(valid=valid, kind=kind, named=named)


def fresh(make: Callable[[], Any], kind: Kind, *named: str) -> Argument:
    return Argument(valid=make, kind=kind, named=named, fresh=True)


def whole(least: int | None = None, most: int | None = None) -> Kind:
    def allows(value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)):
            return False
        try:
            found = operator.index(value)
        except TypeError:
            return False
        return (least is None or found >= least) and (most is None or found <= most)

    return allows


def number(
    least: float | None = None, most: float | None = None, *, above: float | None = None, infinite: bool = False
) -> Kind:
    def allows(value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, np.floating)):
            return False
        try:
            found = float(value)
        except OverflowError:
            return False
        if math.isnan(found) or (math.isinf(found) and not infinite):
            return False
        return (
            (least is None or found >= least) and (most is None or found <= most) and (above is None or found > above)
        )

    return allows


def flag(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def text(value: Any) -> bool:
    return isinstance(value, str)


def some_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def words(*choices: str) -> Kind:
    return lambda value: isinstance(value, str) and value in choices


def path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike)) and str(value) != "" and "\0" not in str(value)


def amount(value: Any) -> bool:
    """Of memory."""
    return whole(least=0)(value) or isinstance(value, str)


def function(value: Any) -> bool:
    return callable(value)


def names(value: Any) -> bool:
    """One, or whatever can be gone through; of what can be gone through once nobody knows what it holds."""
    if isinstance(value, (str, types.GeneratorType)) or (hasattr(value, "__next__")):
        return True
    return listed(value) and all(isinstance(one, str) for one in value)


def listed(value: Any) -> bool:
    """What can be gone through, and is no text and no dictionary."""
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, bytearray, Mapping, type))


def anything(value: Any) -> bool:
    return True


def nothing(value: Any) -> bool:
    return False


def of(*types: type) -> Kind:
    return lambda value: isinstance(value, types)


def mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def either(*kinds: Kind) -> Kind:
    return lambda value: any(kind(value) for kind in kinds)


def optional(kind: Kind) -> Kind:
    return lambda value: value is None or kind(value)
