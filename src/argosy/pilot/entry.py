"""What the schedule knows about one task."""

from __future__ import annotations

from argosy.pilot.attempt import Attempt
from argosy.pilot.lineage import Kept
from argosy.pilot.task import State, Task


class Entry:
    """One task from its submission until nobody needs it. A kept task stays after it is done."""

    __slots__ = (
        "attempt",
        "attempts",
        "cancelled",
        "dependents",
        "failures",
        "finished",
        "kept",
        "orphaned",
        "released",
        "state",
        "task",
        "waits",
    )

    def __init__(self, task: Task) -> None:
        self.task = task
        self.state = State.WAITING
        """Of the task, or of the work that makes its value again once it is `finished`."""
        self.finished = False
        """Its final state has been said."""
        self.waits: set[int] | None = None
        """Tasks that must be done, or values that must be made again, before it is queued."""
        self.dependents: list[int] | None = None
        self.attempt: Attempt | None = None
        self.attempts = 0
        """How often it was started."""
        self.failures = 0
        """How many of its retries are used."""
        self.orphaned = 0
        self.cancelled = False
        self.released = False
        self.kept = Kept() if task.keep else None
