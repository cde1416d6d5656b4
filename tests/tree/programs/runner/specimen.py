"""A program with something of everything that is compared, for the tests of the comparison."""

from __future__ import annotations

from typing import Any

LOG: list[int] = []


def study(a: Any, xs: list[Any]) -> tuple[Any, Any, list[Any]]:
    """Print, warn, store, append, count in a global; fail when the list is long."""
    print("start")
    b = 1 / a
    a[1] = 5.0
    print("middle")
    xs.append(b)
    LOG.append(len(xs))
    if len(xs) > 5:
        raise ValueError("too long")
    return b, a[1:], xs
