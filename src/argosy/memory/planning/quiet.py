"""Keeps what a C library prints out of our output."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Whatever is written to the process's stdout meanwhile goes to its stderr, and nothing is lost.

    Some releases of HiGHS print lines from deep inside, whatever they are told, which would spoil a command's JSON.
    """
    with _ONE_AT_A_TIME:
        libc = ctypes.CDLL(None)
        try:
            kept = os.dup(1)
        except OSError:  # there is no stdout to keep clean
            yield
            return
        try:
            libc.fflush(None)
            os.dup2(2, 1)
            yield
        finally:
            libc.fflush(None)
            os.dup2(kept, 1)
            os.close(kept)
