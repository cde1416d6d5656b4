"""What works on all ranks, or fails on all of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from argosy.errors import ArgosyError, PeerFailed


class Together(Protocol):
    """Ranks that can tell one another small values."""

    @property
    def rank(self) -> int: ...

    def allgather(self, value: Any) -> list[Any]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """What every rank returned, or what went wrong. `failed` is the same on all ranks."""

    values: list[Any]
    failed: bool
    error: BaseException | None
    """What this rank is to raise."""

    def settled(self) -> list[Any]:
        """The values in order of rank. After a failure all ranks raise: whoever failed its own error, and the others
        the same if it is one of Argosy's, else PeerFailed."""
        if self.error is not None:
            raise self.error
        return self.values


def attempt(ranks: Together, action: Callable[[], Any]) -> Attempt:
    """One small allgather: nobody waits for a rank that has given up."""
    value, mine, told = None, None, None
    try:
        value = action()
    except BaseException as error:  # also an interrupt must not leave the others waiting
        mine, told = error, _as_told(ranks.rank, error)
    gathered = ranks.allgather((value, told))
    first = next((error for _value, error in gathered if error is not None), None)
    theirs = None if first is None else copy.copy(first)
    return Attempt(values=[value for value, _error in gathered], failed=first is not None, error=mine or theirs)


def _as_told(rank: int, error: BaseException) -> ArgosyError:
    if isinstance(error, ArgosyError):
        return copy.copy(error)
    return PeerFailed(rank, f"{type(error).__name__}: {error}")
