"""Tasks that belong together: all that one piece of work submits, whoever does it on its behalf, ends as one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from argosy.pilot.future import Future


class Together:
    """What was submitted within it, by one thread or by several. Any thread may cancel."""

    def __init__(self) -> None:
        self._futures: WeakSet[Future] = WeakSet()
        """The pilot holds those that have not ended."""
        self._cancelled = False
        self._lock = threading.Lock()

    def within(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function; every task that it submits, also in threads with a copy of its context, is one of these."""

        def run(*args: Any, **kwargs: Any) -> Any:
            token = _current.set(self)
            try:
                return function(*args, **kwargs)
            finally:
                _current.reset(token)

        return run

    def cancel(self) -> None:
        """End all of them. What is submitted from now on is cancelled at once, and says so to whoever submits it."""
        with self._lock:
            self._cancelled = True
            futures = list(self._futures)
        for future in futures:
            future.cancel()

    def add(self, future: Future) -> None:
        """For the pilot: the task has just been submitted."""
        with self._lock:
            if not self._cancelled:
                self._futures.add(future)
                return
        future.cancel()
        raise CancelledError(f"{future.name} was submitted by work that has been cancelled")


_current: ContextVar[Together | None] = ContextVar("argosy_together", default=None)


def joins(future: Future) -> None:
    """For the pilot: the task that was just submitted belongs to what this thread does."""
    together = _current.get()
    if together is not None:
        together.add(future)
