"""Which ranks live, and which world they share: what to do when one dies, and how it comes back.

Pure: told what happened, it says what is to be done. With ULFM the survivors *shrink* the world to themselves, one of
them *spawns* processes for the lost ranks, and with these all *grow* the world again; tasks that run meanwhile are
not disturbed. Without ULFM, or when that goes wrong, the whole world is *relaunched*.

A death while processes are spawned, or while a communicator with the dead in it is being made, can crash the
survivors inside the MPI library (seen with Open MPI 5.0). Deaths come in swarms, so after the first one the fleet
waits a moment for more before it shrinks (*gathering*), and before it spawns it lets tasks that have communicators
come to an end, if that is soon (*calming*). New communicators wait for the grown world meanwhile.
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
class Spawn:
    """Tell the leader to start processes for the lost ranks."""

    leader: int
    number: int
    lost: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grow:
    """Tell these ranks, old and new, to make the world of `epoch` out of `base` and what the leader has spawned."""

    ranks: tuple[int, ...]
    epoch: int
    base: int
    number: int
    leader: int


@dataclass(frozen=True, slots=True)
class Dismiss:
    """End the processes spawned for these ranks: the world they were to join is no more."""

    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Relaunch:
    """End whatever is left of the world and start all ranks anew."""


Step = Joined | Gone | Shrink | Spawn | Grow | Dismiss | Relaunch


class Phase(Enum):
    LAUNCHING = "launching"
    STEADY = "steady"
    GATHERING = "gathering"
    SHRINKING = "shrinking"
    SPAWNING = "spawning"
    CALMING = "calming"
    GROWING = "growing"
    OVER = "over"
    """It has failed too often; no rank comes back."""


@dataclass(slots=True)
class Spawning:
    """Processes on their way into the world."""

    number: int
    leader: int
    ranks: frozenset[int]
    awaited: set[int]
    """Newcomers that have not said hello, and the leader until it has said that they are all there."""


@dataclass(slots=True)
class Fleet:
    num_ranks: int
    ulfm: bool
    phase: Phase = Phase.LAUNCHING
    live: set[int] = field(default_factory=set)
    """Ranks that have joined and not been lost since."""
    epoch: int = 0
    """The world in which new communicators are to be made; it may be still to come."""
    _world: int = 0
    """The newest world that all live ranks have."""
    _died_meanwhile: bool = False
    """A rank died while the world was shrinking: it must shrink once more."""
    _last_number: int = 0
    _awaited: set[int] = field(default_factory=set)
    _spawning: Spawning | None = None
    _failures: int = 0
    _was_whole: bool = False

    @property
    def awaited(self) -> frozenset[int]:
        """The ranks whose word is missing before the phase is over."""
        if self.phase is Phase.SPAWNING and self._spawning is not None:
            return frozenset(self._spawning.awaited)
        return frozenset(self._awaited)

    # What happened ---------------------------------------------------------------------------------------------------

    def expects(self, rank: int, spawning: int) -> bool:
        """Whether a process of this spawning (0: of the launcher) may now speak up for this rank."""
        if self._spawning is not None and rank in self._spawning.ranks:
            return spawning == self._spawning.number
        return spawning == 0 and self.phase is Phase.LAUNCHING and rank not in self.live

    def greeted(self, rank: int) -> list[Step]:
        """A process that was spawned for this rank is there, outside the world."""
        if self._spawning is not None and rank in self._spawning.ranks:
            self._spawning.awaited.discard(rank)
            return self._grow_when_spawned()
        return []

    def arrived(self, rank: int) -> list[Step]:
        """The rank is in its first world."""
        if self.phase is Phase.LAUNCHING and rank not in self.live:
            self.live.add(rank)
            if len(self.live) < self.num_ranks:
                return []
            self._settle(0)
            return [Joined(rank) for rank in sorted(self.live)]
        if self.phase is Phase.GROWING:
            return self._made(rank)
        return []

    def ready(self, rank: int, number: int, problem: str) -> list[Step]:
        """The rank has made the world of that epoch, or spawned under that number; or it could not."""
        if self._spawning is not None and number == self._spawning.number:
            if problem:
                return self._spawn_failed()
            self._spawning.awaited.discard(rank)
            return self._grow_when_spawned()
        if number != self.epoch or self.phase not in (Phase.SHRINKING, Phase.GROWING):
            return []
        return self._set_back() if problem else self._made(rank)

    def lost(self, rank: int) -> list[Step]:
        """The rank's process has ended."""
        if self.phase is Phase.OVER:
            return []
        if self.phase is Phase.LAUNCHING:
            return self.ended()
        spawning = self._spawning
        if spawning is not None and rank in spawning.ranks and rank not in self.live:
            return self._set_back() if self.phase is Phase.GROWING else self._spawn_failed()
        if rank not in self.live:
            return []
        self.live.discard(rank)
        steps: list[Step] = [Gone(rank)]
        if not self.ulfm or not self.live:
            return [*steps, *self._relaunch()]
        if spawning is not None and (rank == spawning.leader or self.phase is Phase.GROWING):
            steps += self._dismiss()
        if self.phase is Phase.SHRINKING:
            self._died_meanwhile = True
            return [*steps, *self._made(rank)]
        self._gather()
        return steps

    def gathered(self) -> list[Step]:
        """Nobody else has died for a moment."""
        self.phase = Phase.SHRINKING
        self._died_meanwhile = False
        self._awaited = set(self.live)
        return [Shrink(tuple(sorted(self.live)), self.epoch, self._world)]

    def calmed(self) -> list[Step]:
        """The tasks that had communicators have ended, or have been waited for long enough.

        Ranks come back one at a time: those spawned together would be killed together when one of them dies.
        """
        lost = (min(set(range(self.num_ranks)) - self.live),)
        leader = min(self.live)
        self._spawning = Spawning(self._next_number(), leader, frozenset(lost), {leader, *lost})
        self.phase = Phase.SPAWNING
        return [Spawn(leader, self._spawning.number, lost)]

    def ended(self) -> list[Step]:
        """The launcher has ended, and every rank with it."""
        if self.phase is Phase.OVER:
            return []
        self._failures += self.phase is Phase.LAUNCHING
        return self._relaunch()

    def overdue(self) -> list[Step]:
        """The phase has lasted too long, and not because a rank is busy. A first world that hangs has no second try."""
        if self.phase is Phase.SPAWNING:
            return self._spawn_failed()
        if self.phase is Phase.GROWING:
            return self._set_back()
        self._failures = self._failures + 1 if self._was_whole else _MOST_FAILURES_IN_A_ROW
        return self._relaunch()

    # What follows ----------------------------------------------------------------------------------------------------

    def _gather(self) -> None:
        if self.phase is not Phase.GATHERING:
            self.phase = Phase.GATHERING
            self.epoch = self._next_number()

    def _made(self, rank: int) -> list[Step]:
        """The rank has the world in the making, or will never have it."""
        self._awaited.discard(rank)
        if self._awaited:
            return []
        self._world = self.epoch
        if self.phase is Phase.SHRINKING:
            if self._died_meanwhile:
                self._gather()
                return []
            return self._bring_back()
        assert self._spawning is not None
        newcomers = sorted(self._spawning.ranks)
        self.live |= self._spawning.ranks
        self._spawning = None
        self._settle(self.epoch)
        joined: list[Step] = [Joined(rank) for rank in newcomers]
        return joined + self._bring_back()

    def _bring_back(self) -> list[Step]:
        """See to it that the lost ranks come back: nothing to do when none is lost, little when they are under way."""
        if self._spawning is not None:
            self.phase = Phase.SPAWNING
            self.epoch = self._next_number()
            return self._grow_when_spawned()
        lost = sorted(set(range(self.num_ranks)) - self.live)
        if not lost or self._failures >= _MOST_FAILURES_IN_A_ROW:
            self._settle(self._world)
            return [Gone(rank, returns=False) for rank in lost]
        self.phase = Phase.CALMING
        self.epoch = self._next_number()
        return []

    def _grow_when_spawned(self) -> list[Step]:
        spawning = self._spawning
        if self.phase is not Phase.SPAWNING or spawning is None or spawning.awaited:
            return []
        self.phase = Phase.GROWING
        self._awaited = self.live | spawning.ranks
        return [Grow(tuple(sorted(self._awaited)), self.epoch, self._world, spawning.number, spawning.leader)]

    def _dismiss(self) -> list[Step]:
        assert self._spawning is not None
        ranks = tuple(sorted(self._spawning.ranks))
        self._spawning = None
        return [Dismiss(ranks)]

    def _spawn_failed(self) -> list[Step]:
        self._failures += 1
        steps = self._dismiss()
        if self.phase is Phase.SPAWNING:
            steps += self._bring_back()
        return steps

    def _set_back(self) -> list[Step]:
        """The world in the making failed. Growing can be tried again from a clean shrink; shrinking cannot."""
        self._failures += 1
        if self.phase is Phase.GROWING:
            steps = self._dismiss()
            self._gather()
            return steps
        return self._relaunch()

    def _relaunch(self) -> list[Step]:
        final = self._failures >= _MOST_FAILURES_IN_A_ROW
        steps: list[Step] = [Gone(rank, returns=True) for rank in sorted(self.live)]
        if final:
            steps = [Gone(rank, returns=False) for rank in range(self.num_ranks)]
        self.live = set()
        self._awaited = set()
        self._spawning = None
        self.phase = Phase.OVER if final else Phase.LAUNCHING
        self.epoch = self._world = self._last_number = 0
        return steps if final else [*steps, Relaunch()]

    def _settle(self, epoch: int) -> None:
        self.epoch = self._world = epoch
        self.phase = Phase.STEADY
        self._was_whole = True
        self._awaited = set()
        self._failures = 0

    def _next_number(self) -> int:
        self._last_number += 1
        return self._last_number
