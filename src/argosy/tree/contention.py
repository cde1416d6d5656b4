"""Whether an expression was held up by others that run Python at the same time: threads take the interpreter in turns.

Seen from the thread itself: it slept often, each time for a turn, and had much less of a processor than time passed. A
thread that only shares a processor with other programs is taken off it instead; that does not count.
"""

from __future__ import annotations

import sys
from time import perf_counter, thread_time

try:
    import resource
except ImportError:  # no such thing on this system
    resource = None  # type: ignore[assignment]

WORTH_SECONDS = 1e-3
"""What takes less is not looked at."""
_SLEEPS_PER_SECOND = 2000.0
_SHARE = 0.75
_CAN_TELL = (
    resource is not None and hasattr(resource, "RUSAGE_THREAD") and getattr(sys, "_is_gil_enabled", lambda: True)()
)


class Look:
    """From when it is made until `held_up` is asked."""

    __slots__ = ("_processor", "_sleeps", "_started")

    def __init__(self) -> None:
        self._started = perf_counter()
        self._processor = thread_time()
        self._sleeps = _sleeps()

    def held_up(self) -> bool:
        seconds = perf_counter() - self._started
        if seconds < WORTH_SECONDS:
            return False
        often = (_sleeps() - self._sleeps) / seconds > _SLEEPS_PER_SECOND
        return often and thread_time() - self._processor < _SHARE * seconds


def _sleeps() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw if _CAN_TELL else 0
