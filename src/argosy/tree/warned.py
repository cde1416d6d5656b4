"""Warnings inside an expression: heard where it runs, and shown later, when it is the expression's turn.

Python shows a warning by `warnings._showwarnmsg`, from Python and from C alike. In a thread that runs an expression it is
kept instead, for the thread that retires the expression to show.
"""

from __future__ import annotations

import threading
import warnings
from typing import Any

_here = threading.local()
_original = warnings._showwarnmsg  # type: ignore[attr-defined]


class heard:  # noqa: N801
    """A context in which warnings of this thread are kept, not shown."""

    __slots__ = ("_around", "messages")

    def __enter__(self) -> heard:
        self.messages: list[Any] = []
        self._around = getattr(_here, "listener", None)
        _here.listener = self
        return self

    def __exit__(self, *error: object) -> None:
        _here.listener = self._around


def show(message: Any) -> None:
    """Show a warning as Python would, or keep it for the expression that this thread is running."""
    listener = getattr(_here, "listener", None)
    if listener is None:
        _original(message)
    else:
        listener.messages.append(message)


warnings._showwarnmsg = show  # type: ignore[attr-defined]
