"""Ranks that look at their own data, and fail together if one of them fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from argosy.comm.ranks import Ranks
from argosy.errors import ArgosyError, PeerFailed

T = TypeVar("T")


def together(ranks: Ranks, look: Callable[[], T]) -> list[T]:
    """What `look` returned on every rank. A collective: if it raises anywhere, all ranks raise; none waits forever.

    An error of ours is raised on all ranks as it is; another one as `PeerFailed` on the ranks where it did not happen.
    """
    value: Any = None
    error: Exception | None = None
    try:
        value = look()
    except Exception as raised:
        error = raised
    said = error if error is None or isinstance(error, ArgosyError) else f"{type(error).__name__}: {error}"
    outcomes = ranks.allgather((value, said))
    if error is not None:
        raise error
    for rank, (_, other) in enumerate(outcomes):
        if isinstance(other, ArgosyError):
            raise other
        if other is not None:
            raise PeerFailed(rank, other)
    return [value for value, _ in outcomes]
