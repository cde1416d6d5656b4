"""Arguments, judged where they are given, so that nothing wrong goes further.

Each function is told the argument's name and its value. It returns the value as plain Python, or raises an error that
names the argument, the value and what is wanted: a `TypeError` for a value of another kind, a `ValueError` for one of
the right kind that is out of range. NumPy's numbers are numbers; a bool is none, and 2.0 is not a whole one.
"""

from __future__ import annotations

import math
import operator
import os
import reprlib
from collections.abc import Collection
from numbers import Real
from typing import Any

_MOST_BITS = 256
_short = reprlib.Repr()
_short.maxstring = _short.maxother = 80
_short.maxlong = 90


def whole(name: str, value: Any, *, least: int | None = None, most: int | None = None, wanted: str = "") -> int:
    """A whole number from `least` to `most`."""
    words = wanted or f"a whole number{_range(least, most)}"
    if type(value) is not int:
        value = _index(name, value, words)
    if (least is not None and value < least) or (most is not None and value > most):
        raise ValueError(f"{name} must be {words}, not {show(value)}")
    return value  # type: ignore[no-any-return]


def number(
    name: str,
    value: Any,
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    infinite: bool = False,
    wanted: str = "",
) -> float:
    """A number from `least`, or `above`, to `most`. Never NaN; infinity where that means something."""
    words = wanted or f"a number{_range(least, most, above)}"
    if type(value) is not float:
        value = _real(name, value, words)
    inside = (least is None or value >= least) and (most is None or value <= most) and (above is None or value > above)
    if not inside or math.isnan(value) or (math.isinf(value) and not infinite):
        raise ValueError(f"{name} must be {words}, not {show(value)}")
    return value  # type: ignore[no-any-return]


def flag(name: str, value: Any) -> bool:
    """True or False, and nothing that is merely as good as one of them."""
    if type(value) is bool:
        return value
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise TypeError(f"{name} must be True or False, not {show(value)}")


def text(name: str, value: Any, wanted: str = "a string") -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be {wanted}, not {show(value)}")
    return str.__str__(value)


def one_of(name: str, value: Any, choices: Collection[str]) -> str:
    """One of a few words."""
    words = " or ".join(map(repr, choices))
    if (given := text(name, value, words)) not in choices:
        raise ValueError(f"{name} must be {words}, not {show(value)}")
    return given


def path(name: str, value: Any) -> str:
    """A path of the file system, as a string."""
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name} must be a path, not {show(value)}")
    given = os.fspath(value)
    if not isinstance(given, str):
        raise TypeError(f"{name} must be a path of characters, not of bytes: {show(given)}")
    if not given or "\0" in given:
        raise ValueError(f"{name} must be a path, not {show(given)}")
    return given


def show(value: Any) -> str:
    """The value in a few words, whatever it is: one that cannot say what it is, or would say too much, as well."""
    if type(value) is int and value.bit_length() > _MOST_BITS:
        return f"a number of {value.bit_length()} bits"
    try:
        return _short.repr(value)
    except Exception:
        return f"a {type(value).__qualname__}"


def _index(name: str, value: Any, wanted: str) -> int:
    try:
        found = None if isinstance(value, bool) else operator.index(value)
    except Exception:  # of a value's own __index__
        found = None
    if found is None:
        raise TypeError(f"{name} must be {wanted}, not {show(value)}")
    return int(found)


def _real(name: str, value: Any, wanted: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {wanted}, not {show(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be {wanted}, not {show(value)}") from None
    except Exception:  # of a value's own __float__
        raise TypeError(f"{name} must be {wanted}, not {show(value)}") from None


def _range(least: float | None, most: float | None, above: float | None = None) -> str:
    low = f" above {above}" if above is not None else f" of at least {least}" if least is not None else ""
    if most is None:
        return low
    return f" from {least} to {most}" if least is not None else f"{low}{' and' if low else ' of'} at most {most}"
