"""The thread in which the callbacks of a pilot's Futures run: they are the user's, and may wait, raise or never end."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argosy.pilot.future import Future

Callback = Callable[["Future"], Any]
_log = logging.getLogger("concurrent.futures")
"""Where the standard library tells of a callback that raised."""


class Callbacks:
    """One after another, in the order in which tasks ended."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[tuple[Callback, Future] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def add(self, callback: Callback, future: Future) -> None:
        """Owned by one thread. It never waits."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="argosy-callbacks", daemon=True)
            self._thread.start()
        self._waiting.put((callback, future))

    def finish(self, timeout_seconds: float | None) -> None:
        """Once nothing is added any more: until all have run, or not for longer than that. One of them may call it."""
        if self._thread is None or self._thread is threading.current_thread():
            return
        self._waiting.put(None)
        self._thread.join(timeout_seconds)

    def _run(self) -> None:
        while (item := self._waiting.get()) is not None:
            run(*item)
            del item  # nothing is kept alive from here


def run(callback: Callback, future: Future) -> None:
    """Whatever it raises is logged."""
    try:
        callback(future)
    except BaseException:
        with contextlib.suppress(Exception):  # the user's handlers of the log may raise too
            _log.exception("a callback of %s raised", future.name)
