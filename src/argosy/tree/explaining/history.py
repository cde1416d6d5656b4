"""Who touched which memory, also when it has ended: so that the same is told whoever was faster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from argosy.tree.explaining.record import READS, STATE, WRITES_OVER, WRITES_TOO, Cause
from argosy.tree.memory import Token
from argosy.tree.regions import Region, overlap
from argosy.tree.watch import Touch

_MOST_TOKENS = 1024
_MOST_SEEN = 512
"""Accesses of one piece of memory that are kept. What came before is forgotten, so that the cost stays bounded."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """One access."""

    number: int
    writes: bool
    region: Region | None
    name: str


class History:
    """Of one call, since something ran alone in it."""

    def __init__(self) -> None:
        self._seen: dict[Token, list[_Seen]] = {}

    def clear(self) -> None:
        self._seen.clear()

    def add(self, number: int, touches: Sequence[Touch]) -> list[Cause]:
        """An expression touches memory; who touched it before, where one of the two writes."""
        self._follow()
        causes = [cause for touch in touches for cause in _shared(touch, self._seen.get(touch.token, []))]
        for touch in touches:
            seen = self._seen.setdefault(touch.token, [])
            if touch.writes and touch.region is None:
                seen.clear()  # it waits for all of them, and whoever comes waits for it
            elif len(seen) >= _MOST_SEEN:
                del seen[0]
            seen.append(_Seen(number, touch.writes, touch.region, touch.name))
        if len(self._seen) > _MOST_TOKENS:
            del self._seen[next(iter(self._seen))]
        return causes

    def _follow(self) -> None:
        """Tokens may have been united since."""
        for token in [token for token in self._seen if token.parent is not None]:
            self._seen.setdefault(token.root(), []).extend(self._seen.pop(token))


def _shared(touch: Touch, before: list[_Seen]) -> Iterator[Cause]:
    """Nearest first."""
    for seen in reversed(before):
        if (touch.writes or seen.writes) and overlap(touch.region, seen.region):
            how = READS if not touch.writes else WRITES_TOO if seen.writes else WRITES_OVER
            if not touch.name.isidentifier():
                how = STATE
            yield Cause(number=seen.number, how=how, name=touch.name, theirs=seen.name)
