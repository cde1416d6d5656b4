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
from collections.abc import Callable, Collection, Iterable, Mapping
from numbers import Real
from typing import Any

_MOST_BITS = 256
_LONGEST_PATH = 4096
_HOLDERS = (list, tuple, dict, set, frozenset)
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


def probability(name: str, value: Any) -> float:
    """A number between 0 and 1, and neither of them."""
    given = number(name, value, above=0, wanted=(wanted := "a probability between 0 and 1"))
    if given >= 1:
        raise ValueError(f"{name} must be {wanted}, not {show(value)}")
    return given


def reading(name: str, value: Any) -> None:
    """A number of any kind, NaN and infinity too, or a tensor of one element, which is not read yet."""
    if type(value) is float or (isinstance(value, float) and math.isnan(value)):
        return
    count = getattr(value, "numel", None)
    if callable(count) and not isinstance(value, type):
        single, shape = count() == 1, getattr(value, "shape", None)
    elif type(value).__name__ == "ndarray" and value.dtype.kind in "iuf":
        single, shape = value.size == 1, value.shape
    else:
        single, shape = False, None
    wanted = "a number or a tensor of one element"
    if not single and isinstance(shape, tuple):
        raise ValueError(f"{name} must be {wanted}, not one of shape {show(tuple(shape))}; reduce it first")
    if not single:
        number(name, value, infinite=True, wanted=wanted)


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
    given = str.__str__(value)
    if not given.isascii() and any("\ud800" <= letter <= "\udfff" for letter in given):
        raise ValueError(f"{name} must be {wanted} of whole characters, without half a surrogate pair: {show(value)}")
    return given


def one_of(name: str, value: Any, choices: Collection[str]) -> str:
    """One of a few words."""
    words = " or ".join(map(repr, choices))
    if (given := text(name, value, words)) not in choices:
        raise ValueError(f"{name} must be {words}, not {show(value)}")
    return given


def function(name: str, value: Any, wanted: str = "a function") -> Callable[..., Any]:
    if not callable(value):
        raise TypeError(f"{name} must be {wanted}, not {show(value)}")
    return value  # type: ignore[no-any-return]


def instance(name: str, value: Any, kinds: type | tuple[type, ...], wanted: str) -> Any:
    """A value of these classes, and not one of the classes."""
    if not isinstance(value, kinds):
        raise TypeError(f"{name} must be {wanted}, not {show(value)}")
    return value


def items(name: str, value: Any, wanted: str = "a list") -> list[Any]:
    """What can be gone through, gone through once. A text is one thing and not its letters."""
    if isinstance(value, str | bytes | bytearray | Mapping) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be {wanted}, not {show(value)}")
    try:
        return list(value)
    except Exception as error:  # of a value's own __iter__
        raise TypeError(f"{name} must be {wanted}, not {show(value)}") from error


def names(name: str, value: Any, wanted: str = "a name or a list of names") -> tuple[str, ...]:
    """One name, or several."""
    given = [value] if isinstance(value, str) else items(name, value, wanted)
    return tuple(text(name, one, wanted) for one in given)


def mapping(name: str, value: Any, wanted: str = "a dictionary") -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be {wanted}, not {show(value)}")
    return dict(value)


def path(name: str, value: Any) -> str:
    """A path of the file system, as a string."""
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name} must be a path, not {show(value)}")
    try:
        given = os.fspath(value)
    except Exception:  # of a value's own __fspath__
        raise TypeError(f"{name} must be a path, not {show(value)}") from None
    if not isinstance(given, str):
        raise TypeError(f"{name} must be a path of characters, not of bytes: {show(given)}")
    if not given or "\0" in given or len(given) > _LONGEST_PATH:
        raise ValueError(f"{name} must be a path, not {show(given)}")
    try:
        os.fsencode(given)
    except UnicodeEncodeError:
        raise ValueError(f"{name} must be a path that this machine can write down, not {show(given)}") from None
    return given


def settle(made: Any, **judged: Any) -> None:
    """What was judged, as the fields of a frozen dataclass."""
    for name, value in judged.items():
        object.__setattr__(made, name, value)


def shallow(name: str, value: Any, most: int = 64) -> Any:
    """Lists in lists, but not without end: Arrow goes down until the process dies."""
    level: list[Any] = [value]
    for _ in range(most):
        below: list[Any] = []
        for one in level:
            holds = one.values() if type(one) is dict else one
            if any(issubclass(kind, _HOLDERS) for kind in set(map(type, holds))):
                below += [each for each in holds if isinstance(each, _HOLDERS)]
        if not below:
            return value
        level = below
    raise ValueError(f"{name} must not hold lists in lists {most} deep: {show(value)}")


def show(value: Any, most: int = 80) -> str:
    """The value in a few words, whatever it is: one that cannot say what it is, or would say too much, as well."""
    if type(value) is int and value.bit_length() > _MOST_BITS:
        return f"a number of {value.bit_length()} bits"
    try:
        if most <= _short.maxother:
            return _short.repr(value)
        said = repr(value)
        return said if len(said) <= most else f"{said[: most - 20]}...{said[-17:]}"
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
