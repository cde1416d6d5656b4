"""What the schedule is told (events) and what it asks for (instructions).

Every event carries the time at which it happened; the schedule has no other clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from argosy.pilot.task import State, Task
from argosy.resources import Slots


class Outcome(StrEnum):
    """How a task ended on one rank."""

    RETURNED = "returned"
    RAISED = "raised"
    STOPPED = "stopped"
    """It was told to stop, or lost its peers, and left."""
    UNSTARTED = "unstarted"
    """No communicator could be made because the world had just changed: the start does not count."""


# Events --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Submitted:
    time: float
    task: Task


@dataclass(frozen=True, slots=True)
class RankEnded:
    """One rank left an attempt of a task. A task's slots are free once all of its ranks have left or are lost."""

    time: float
    task: int
    attempt: int
    rank: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class CancelAsked:
    time: float
    task: int


@dataclass(frozen=True, slots=True)
class ReleaseAsked:
    """Nobody wants the kept value of this task any more."""

    time: float
    task: int


@dataclass(frozen=True, slots=True)
class RankJoined:
    """A rank is there and idle: at the start, or again after a loss."""

    time: float
    rank: int


@dataclass(frozen=True, slots=True)
class RankGone:
    """A rank died. If it does not return, what can no longer be met fails."""

    time: float
    rank: int
    returns: bool = True


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed; nothing else has happened."""

    time: float


Event = Submitted | RankEnded | CancelAsked | ReleaseAsked | RankJoined | RankGone | Tick


# Instructions --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Queued:
    """The task had to wait, or is to run again: now it could start if there were room."""

    task: int


@dataclass(frozen=True, slots=True)
class Start:
    """Run this attempt of the task on these slots. Attempts count from 0 and never repeat for a task."""

    task: int
    attempt: int
    slots: Slots


@dataclass(frozen=True, slots=True)
class Stop:
    """Make these ranks leave the attempt; each answers with `RankEnded`."""

    task: int
    attempt: int
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Replace:
    """This rank did not leave in time: end its process. `RankGone` follows."""

    rank: int


@dataclass(frozen=True, slots=True)
class Drop:
    """Forget the kept value of this task on these ranks."""

    task: int
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """The task has reached its final state. Said once for each task."""

    task: int
    state: State
    cause: Cause | None = None


Instruction = Queued | Start | Stop | Replace | Drop | Finish


# Causes: why a task did not end well ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Raised:
    rank: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Lost:
    rank: int


@dataclass(frozen=True, slots=True)
class TimedOut:
    seconds: float


@dataclass(frozen=True, slots=True)
class NeverFits:
    asked: str
    """What was asked, in words: `8 ranks`."""
    there: str
    """What there is: `4 ranks`."""


@dataclass(frozen=True, slots=True)
class InputFailed:
    """A task whose result it takes did not end well."""

    task: int


@dataclass(frozen=True, slots=True)
class ValueGone:
    """The kept value it needs was lost with its ranks, or released, and cannot be made again."""

    task: int
    why: str


Cause = Raised | Lost | TimedOut | NeverFits | InputFailed | ValueGone
