"""How long this thread was busy finding out about a program: paid once, it is no part of what walking costs."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from time import perf_counter
from typing import ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class _Learning(threading.local):
    seconds = 0.0
    under_way = False


_here = _Learning()


def learnt() -> float:
    """Seconds, of this thread, since it began."""
    return _here.seconds


def learns(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """A function that finds out something which is then remembered."""

    @functools.wraps(function)
    def timed(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        if _here.under_way:
            return function(*args, **kwargs)
        _here.under_way = True
        started = perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            _here.under_way = False
            _here.seconds += perf_counter() - started

    return timed
