"""Warnings inside an expression: heard where it runs, and shown later, when it is the expression's turn.

Python shows a warning by `warnings._showwarnmsg`, from Python and from C alike. In a thread that runs an expression it
is kept instead, for the thread that retires the expression to show.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

_here = threading.local()
_original = warnings._showwarnmsg  # type: ignore[attr-defined]


def hear(messages: list[Any] | None) -> list[Any] | None:
    """From now on warnings of this thread go into the list, or are shown; gives where they went before."""
    before: list[Any] | None = getattr(_here, "messages", None)
    _here.messages = messages
    return before


def forget(messages: Sequence[Any]) -> None:
    """As if they had not been heard: Python shows some warnings once only."""
    for message in messages:
        text, category = str(message.message), message.category
        warnings.onceregistry.pop((text, category), None)  # type: ignore[attr-defined]
        for module in list(sys.modules.values()):
            registry = getattr(module, "__dict__", {}).get("__warningregistry__")
            if isinstance(registry, dict):
                for key in ((text, category, message.lineno), (text, category, 0), (text, category)):
                    registry.pop(key, None)


def show(message: Any) -> None:
    """Show a warning as Python would, or keep it for the expression that this thread is running."""
    if message.filename.startswith(_FOLDER) and _shown_for_caller(message):
        return
    messages = getattr(_here, "messages", None)
    if messages is None:
        _original(message)
    else:
        messages.append(message)


_FOLDER = str(Path(__file__).parent) + os.sep


def _shown_for_caller(message: Any) -> bool:
    """A warning for who called a futurized function has met a frame of ours: it is for the first one beyond."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (frame.f_code.co_filename, frame.f_lineno) != (message.filename, message.lineno):
        frame = frame.f_back
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
    if frame is None:
        return False
    forget([message])
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        message.message,
        message.category,
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__"),
        registry,
        source=message.source,
    )
    return True


warnings._showwarnmsg = show  # type: ignore[attr-defined]
