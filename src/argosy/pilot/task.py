"""A task as the schedule sees it: what it needs and what it waits for, never what it computes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from argosy.resources import Need


class State(StrEnum):
    """Where a task stands. The last three are final."""

    WAITING = "waiting"
    """For the tasks whose results it takes."""
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """One entry of the schedule. Ids grow in the order of submission."""

    id: int
    need: Need = Need()
    name: str = ""
    priority: int = 0
    """Higher goes first; among equals, first come, first served."""
    timeout_seconds: float | None = None
    """Counted from each start."""
    retries: int = 0
    """How often it may be started again after a failure, a timeout or the loss of a rank."""
    retries_on_loss: int = 0
    """How often it may be started again after the loss of a rank, before that uses one of its `retries`."""
    keep: bool = False
    """Each rank's value stays on its rank."""
    after: tuple[int, ...] = ()
    """Tasks that must be done first."""
    on: tuple[int, ...] = ()
    """Kept tasks on whose ranks it must run, also named in `after`."""
