"""What calling a function does, as far as order matters."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

Result = Literal["fresh", "alias", "atom", "list", "contents"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Behaviour:
    """What calling a function does, as far as order matters.

    It holds for arguments that are atoms, exact arrays of plain numbers, strings or times (no objects, no fields) and
    lists, tuples, dicts and sets of these. An argument is named by its position, by its keyword, or by both where
    it can be given either way; "self" is the object whose method it is.
    """

    result: Result
    """atom: an immutable value without interior (float, str, tuple of ints, dtype, None).
    fresh: new memory that shares nothing with the arguments; also a tuple or list of such arrays. (An array of objects,
    which is made when a dtype asks for it, holds the very objects that it was given.)
    list: a new list, tuple, dict, set or iterator whose elements, at any depth, may be elements of the arguments.
    contents: a new one whose elements may also be the arguments themselves or share memory with them.
    alias: may be an argument, be found in one, or share memory with one, itself or its elements.

    Whatever is said here, a function may return an argument that it writes (`out=`), alone or in a tuple.
    """
    writes: tuple[int | str, ...] = ()
    """Arguments that are changed in place when they are given, the elements of a tuple (`out=(a, b)`) included.
    A list, dict or set that is written may afterwards hold the other arguments or their elements."""
    state: str | None = None
    """Hidden state that it reads and changes, so that calls stay in order: "numpy.random" is the global generator."""
    calls: tuple[int | str, ...] = ()
    """Arguments that it calls, or calls the elements of, if they can be called (not None, not the name of a mode)."""
    iterates: bool = False
    """It uses up an argument that is an iterator."""
    lazy: bool = False
    """The result looks at the arguments when it is used, not when it is made (zip, dict.values)."""
    takes: Literal["anything", "arrays"] = "anything"
    """arrays: this holds only if all arguments are atoms, arrays, and lists and tuples of these, at any depth. A dict,
    a set, a function or an iterator may end up as an object in an array (but see `calls` and `iterates`)."""
    options: tuple[int | str, ...] = ()
    """Arguments without which it does less: only what `otherwise` says."""
    otherwise: Behaviour | None = None

    def when(self, num_positional: int, keywords: Collection[str]) -> Behaviour:
        """What a call with these arguments does: as much as this, or less.

        Only for calls without `*` and `**`, whose arguments can be counted.
        """
        if self.otherwise is None:
            return self
        given = any(
            option in keywords if isinstance(option, str) else option < num_positional for option in self.options
        )
        return self if given else self.otherwise


FRESH = Behaviour(result="fresh")
ALIAS = Behaviour(result="alias")
ATOM = Behaviour(result="atom")
LIST = Behaviour(result="list")
CONTENTS = Behaviour(result="contents")
