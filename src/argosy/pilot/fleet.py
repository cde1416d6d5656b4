"""Which ranks live, and which world they share: what to do when one dies, and how it comes back.

Pure: told what happened, it says what is to be done. With ULFM the survivors *shrink* the world to themselves and then
*grow* it by new processes for the lost ranks; tasks that run meanwhile are not disturbed. Without ULFM, or when that
goes wrong, the whole world is *relaunched*.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

_MOST_FAILURES_IN_A_ROW = 3


@dataclass(frozen=True, slots=True)
class Joined:
    """The rank is there and can be given tasks."""

    rank: int


@dataclass(frozen=True, slots=True)
class Gone:
    """The rank is dead. `returns` is False when it will not be started again."""

    rank: int
    returns: bool = True


@dataclass(frozen=True, slots=True)
class Shrink:
    """Tell these ranks to make the world of `epoch` out of what lives of `base`."""

    ranks: tuple[int, ...]
    epoch: int
    base: int


@dataclass(frozen=True, slots=True)
class Grow:
    """Tell these ranks to make the world of `epoch` out of `base` and new processes for the `lost` ranks."""

    ranks: tuple[int, ...]
    epoch: int
    base: int
    lost: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Relaunch:
    """End whatever is left of the world and start all ranks anew."""


Step = Joined | Gone | Shrink | Grow | Relaunch


class Phase(Enum):
    LAUNCHING = "launching"
    STEADY = "steady"
    SHRINKING = "shrinking"
    GROWING = "growing"
    OVER = "over"
    """It has failed too often; no rank comes back."""


@dataclass(slots=True)
class Fleet:
    num_ranks: int
    ulfm: bool
    phase: Phase = Phase.LAUNCHING
    live: set[int] = field(default_factory=set)
    """Ranks that have joined and not been lost since."""
    base: int = 0
    """The epoch of the newest world that all live ranks have, or are just shrinking to."""
    _making: int = 0
    """The epoch of the world in the making, while shrinking or growing."""
    _last_epoch: int = 0
    _awaited: set[int] = field(default_factory=set)
    _newcomers: set[int] = field(default_factory=set)
    _failures: int = 0

    @property
    def awaited(self) -> frozenset[int]:
        """The ranks whose word is missing before the phase is over."""
        return frozenset(self._awaited)

    def arrived(self, rank: int) -> list[Step]:
        """The rank has said hello and is in its world."""
        if self.phase is Phase.LAUNCHING and rank not in self.live:
            self.live.add(rank)
            if len(self.live) < self.num_ranks:
                return []
            self._settle(0)
            self._last_epoch = 0
            return [Joined(rank) for rank in sorted(self.live)]
        if self.phase is Phase.GROWING and rank in self._newcomers:
            self._awaited.discard(rank)
            return self._grown_when_complete()
        return []

    def ready(self, rank: int, epoch: int, problem: str) -> list[Step]:
        """The rank has made the world of that epoch, or could not."""
        if epoch != self._making or self.phase not in (Phase.SHRINKING, Phase.GROWING):
            return []
        if problem:
            return self._set_back()
        self._awaited.discard(rank)
        if self.phase is Phase.GROWING:
            return self._grown_when_complete()
        return self._grow() if not self._awaited else []

    def lost(self, rank: int) -> list[Step]:
        """The rank's process has ended."""
        if self.phase is Phase.OVER:
            return []
        if self.phase is Phase.LAUNCHING:
            return self.ended()
        if self.phase is Phase.GROWING and rank in self._newcomers:
            return self._set_back()
        if rank not in self.live:
            return []
        self.live.discard(rank)
        gone: list[Step] = [Gone(rank)]
        if not self.ulfm:
            return [*gone, *self._relaunch()]
        if not self.live:
            return [*gone, *self._relaunch()]
        return [*gone, *self._shrink()]

    def ended(self) -> list[Step]:
        """The launcher has ended, and every rank with it."""
        if self.phase is Phase.OVER:
            return []
        self._failures += self.phase is Phase.LAUNCHING
        return self._relaunch()

    def overdue(self) -> list[Step]:
        """The phase has lasted too long, and not because a rank is busy."""
        if self.phase is Phase.GROWING:
            return self._set_back()
        self._failures += 1
        return self._relaunch()

    def _shrink(self) -> list[Step]:
        self.base, base = self._next_epoch(), self.base
        self._making = self.base
        self.phase = Phase.SHRINKING
        self._awaited = set(self.live)
        self._newcomers = set()
        return [Shrink(tuple(sorted(self.live)), self._making, base)]

    def _grow(self) -> list[Step]:
        lost = sorted(set(range(self.num_ranks)) - self.live)
        if not lost or self._failures >= _MOST_FAILURES_IN_A_ROW:
            self._settle(self.base)
            return [Gone(rank, returns=False) for rank in lost]
        self._making = self._next_epoch()
        self.phase = Phase.GROWING
        self._newcomers = set(lost)
        self._awaited = self.live | self._newcomers
        return [Grow(tuple(sorted(self.live)), self._making, self.base, tuple(lost))]

    def _grown_when_complete(self) -> list[Step]:
        if self._awaited:
            return []
        newcomers = sorted(self._newcomers)
        self.live |= self._newcomers
        self._settle(self._making)
        return [Joined(rank) for rank in newcomers]

    def _set_back(self) -> list[Step]:
        """The world in the making failed. Growing can be tried again from a clean shrink; shrinking cannot."""
        self._failures += 1
        return self._shrink() if self.phase is Phase.GROWING else self._relaunch()

    def _relaunch(self) -> list[Step]:
        final = self._failures >= _MOST_FAILURES_IN_A_ROW
        steps: list[Step] = [Gone(rank, returns=not final) for rank in sorted(self.live)]
        if final:
            gone = {step.rank for step in steps if isinstance(step, Gone)}
            steps += [Gone(rank, returns=False) for rank in range(self.num_ranks) if rank not in gone]
        self.live = set()
        self._awaited = set()
        self._newcomers = set()
        self.phase = Phase.OVER if final else Phase.LAUNCHING
        self.base = self._making = self._last_epoch = 0
        return steps if final else [*steps, Relaunch()]

    def _settle(self, epoch: int) -> None:
        self.base = epoch
        self.phase = Phase.STEADY
        self._awaited = set()
        self._newcomers = set()
        self._failures = 0

    def _next_epoch(self) -> int:
        self._last_epoch += 1
        return self._last_epoch
