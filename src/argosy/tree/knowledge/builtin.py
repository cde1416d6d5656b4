"""What is known of Python's own functions and types, of `math` and of `cmath`."""

from __future__ import annotations

import builtins
import cmath
import math
from collections.abc import Iterator
from types import BuiltinFunctionType

from argosy.tree.knowledge.behaviour import ATOM, CONTENTS, FRESH, Behaviour

ELEMENTS = Behaviour(result="list", iterates=True)
LAZY_ELEMENTS = Behaviour(result="list", iterates=True, lazy=True)
COUNTED = Behaviour(result="atom", iterates=True)
CHOSEN = Behaviour(result="alias", iterates=True, calls=("key",))


def _added_up(*start: int | str) -> Behaviour:
    """Without elements the result is `start` itself; without `start` it is a number or was made by an addition."""
    less = Behaviour(result="fresh", iterates=True)
    return Behaviour(result="alias", iterates=True, options=start, otherwise=less)


_BUILTIN: dict[object, Behaviour] = {
    **dict.fromkeys((bool, complex, float, int, range, str), ATOM),
    **dict.fromkeys(
        (ascii, bin, callable, chr, format, hash, hex, id, isinstance, issubclass, len, oct, ord, repr), ATOM
    ),
    **dict.fromkeys((abs, divmod, object, pow, round), FRESH),
    **dict.fromkeys((any, all, bytes), COUNTED),
    **dict.fromkeys((max, min), CHOSEN),
    **dict.fromkeys((frozenset, list, set, tuple), ELEMENTS),
    **dict.fromkeys((enumerate, zip), LAZY_ELEMENTS),
    bytearray: Behaviour(result="fresh", iterates=True),
    dict: Behaviour(result="contents", iterates=True),
    iter: Behaviour(
        result="alias",
        lazy=True,
        iterates=True,
        calls=(0,),
        options=(1,),
        otherwise=Behaviour(result="alias", lazy=True, iterates=True),
    ),
    map: Behaviour(result="contents", iterates=True, lazy=True, calls=(0,)),
    next: Behaviour(result="alias", iterates=True, writes=(0,)),
    reversed: Behaviour(result="list", lazy=True),
    slice: CONTENTS,
    sorted: Behaviour(result="list", iterates=True, calls=("key",)),
    sum: _added_up(1, "start"),
    type: Behaviour(result="alias", options=(1, 2), otherwise=ATOM),
}

# They look into their arguments.
_CURIOUS = (BaseExceptionGroup, SyntaxError, UnicodeError)

_OF_MATH = {"prod": _added_up("start"), "sumprod": Behaviour(result="fresh", iterates=True)}


def known() -> Iterator[tuple[object, Behaviour]]:
    """Functions and types that are builtins, and the functions of `math` and `cmath`."""
    yield from _BUILTIN.items()
    for value in vars(builtins).values():
        if isinstance(value, type) and issubclass(value, BaseException) and not issubclass(value, _CURIOUS):
            yield value, CONTENTS
    for module in (math, cmath):
        for name, value in vars(module).items():
            if isinstance(value, BuiltinFunctionType) and not name.startswith("_"):
                yield value, _OF_MATH.get(name, COUNTED)
