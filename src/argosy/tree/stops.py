"""Threads that run code of the user's whose result nobody wants any more are told to leave off, in the midst of it.

Only what can be put back runs there. A thread is told while it is in such code and at no other time, so that what is
around it, ours, is never left half-way.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

_GRACE_SECONDS = 0.25
"""What ends by itself in this time is waited for."""
_tell = ctypes.pythonapi.PyThreadState_SetAsyncExc
_tell.argtypes = (ctypes.c_ulong, ctypes.py_object)


class Stopped(BaseException):
    """Raised in code that is told to leave off."""


class Stops:
    """Of one call; `within` are those of the parts of one expression, told with it."""

    def __init__(self, within: Stops | None = None) -> None:
        self._lock = threading.Lock()
        self._inside: dict[int, int] = {}
        """Threads, and how deep."""
        self._told = False
        self._parts: WeakSet[Stops] = WeakSet()
        if within is not None:
            within._add(self)

    def _add(self, parts: Stops) -> None:
        with self._lock:
            self._parts.add(parts)
            parts._told = self._told

    def run(self, function: Callable[..., Any], *values: Any) -> Any:
        thread = threading.get_ident()
        with self._lock:
            if self._is_told():
                raise Stopped
            self._inside[thread] = self._inside.get(thread, 0) + 1
        try:
            return function(*values)
        finally:
            with self._lock:
                deep = self._inside.pop(thread) - 1
                if deep:
                    self._inside[thread] = deep
                if self._is_told():
                    _tell(thread, ctypes.py_object())  # it may have been told too late

    def _is_told(self) -> bool:
        return self._told

    def stop(self) -> None:
        """All of them, but for the thread that asks."""
        with self._lock:
            self._told = True
            for thread in self._inside.keys() - {threading.get_ident()}:
                _tell(thread, Stopped)
            parts = list(self._parts)
        for part in parts:
            part.stop()

    @contextmanager
    def soon(self) -> Iterator[None]:
        """They end by themselves meanwhile, or are told."""
        timer = threading.Timer(_GRACE_SECONDS, self.stop)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
