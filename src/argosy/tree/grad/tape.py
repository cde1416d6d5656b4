"""What one call of a gradient records while the function runs, and how it says no.

A `Tape` lives as long as one call. Calls may be nested (a gradient of a gradient): the tapes that are at work are a
stack, and a value of an inner tape may hold a value of an outer one.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from argosy.errors import NotDifferentiable

_OURS = ("argosy.tree.grad", "numpy")


class Tape:
    """One call of a gradient."""

    __slots__ = ("ended", "guests", "lent", "level", "pristine", "refusal")

    def __init__(self, level: int) -> None:
        self.level = level
        self.ended = False
        self.refusal: NotDifferentiable | None = None
        """The first refusal: it surfaces even where the function catches it."""
        self.guests: dict[int, tuple[Any, Any]] = {}
        """Arrays that the function finds outside of itself: each is wrapped once."""
        self.lent: list[Any] = []
        """The arrays of the arguments."""
        self.pristine: dict[int, tuple[Any, Any]] = {}
        """Arrays whose writes nobody sees, with the copy that was taken of them."""


_at_work: ContextVar[tuple[Tape, ...]] = ContextVar("tapes", default=())


def tapes() -> tuple[Tape, ...]:
    """The tapes at work in this thread, outermost first."""
    return _at_work.get()


@contextmanager
def recording() -> Iterator[Tape]:
    """A new innermost tape. What was refused on it is raised at the end, whatever became of it in between."""
    outer = _at_work.get()
    tape = Tape(len(outer))
    token = _at_work.set((*outer, tape))
    try:
        yield tape
    except Exception as error:
        if tape.refusal is not None and error is not tape.refusal:
            raise tape.refusal from error
        raise
    finally:
        tape.ended = True
        _at_work.reset(token)
    if tape.refusal is not None:
        raise tape.refusal


def refusal(what: str, advice: str) -> NotDifferentiable:
    """The error to raise for something that has no gradient here; it names the user's line."""
    error = NotDifferentiable(f"{what}{_user_line()}; {advice}")
    for tape in tapes():
        tape.refusal = tape.refusal or error
    return error


def _user_line() -> str:
    frame = sys._getframe(1)
    while frame is not None:
        if not str(dict.get(frame.f_globals, "__name__", "")).startswith(_OURS):
            name, line = frame.f_code.co_filename, frame.f_lineno
            text = linecache.getline(name, line).strip()
            return f", at {Path(name).name}, line {line}" + (f" ({text})" if text else "")
        if frame.f_back is None:
            break
        frame = frame.f_back
    return ""
