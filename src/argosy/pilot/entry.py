"""What the schedule knows about each task, and what is still to be done about it."""

from __future__ import annotations

from collections import deque

from argosy.pilot.attempt import Attempt, Verdict
from argosy.pilot.protocol import Cause, Instruction, Lost, Queued
from argosy.pilot.queue import Queue
from argosy.pilot.residents import Kept
from argosy.pilot.task import State, Task

_MOST_ORPHANINGS = 3
"""How often a task runs again after its ranks stopped as if a peer had died, though none did."""


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
        "losses",
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
        self.losses = 0
        """How many of its retries on loss are used."""
        self.orphaned = 0
        self.cancelled = False
        self.released = False
        self.kept = Kept() if task.keep else None

    def count(self, attempt: Attempt, verdict: Verdict) -> tuple[bool, Cause | None]:
        """An attempt has not ended well: whether the task may be started again, and what to say if not."""
        cause = attempt.cause
        if verdict is Verdict.ORPHANED and attempt.orphan is not None:
            self.orphaned += 1
            cause = Lost(attempt.orphan)
        elif verdict is Verdict.FAILED:
            if isinstance(cause, Lost) and self.losses < self.task.retries_on_loss:
                self.losses += 1
            else:
                self.failures += 1
        return self.failures <= self.task.retries and self.orphaned <= _MOST_ORPHANINGS, cause

    def forget_attempts(self) -> None:
        """It is to be run anew, with all of its retries."""
        self.failures = self.losses = self.orphaned = 0


class Work:
    """All tasks that are not forgotten, the queue, and the instructions of the events that are being handled."""

    def __init__(self) -> None:
        self.entries: dict[int, Entry] = {}
        self.queue = Queue()
        self.out: list[Instruction] = []
        self.look = False
        """Something changed that may let a task start."""
        self.todo: deque[tuple[Entry, Cause | None]] = deque()
        """Waiting entries that have become ready, or that fail for a cause. Long chains must not become deep calls."""

    def queue_up(self, entry: Entry, pinned: tuple[int, ...] | None) -> None:
        entry.state = State.QUEUED
        if entry.task.after or entry.attempts:
            self.out.append(Queued(entry.task.id))
        self.queue.push(entry.task.id, entry.task.priority, entry.task.need, pinned)
        self.look = True

    def unqueue(self, entry: Entry) -> None:
        """Back to waiting, if it is queued."""
        if entry.state is State.QUEUED:
            self.queue.remove(entry.task.id)
            entry.state = State.WAITING
            self.look = True  # it may have been first in line

    def settle_waiting(self, tasks: list[int], over: int, cause: Cause | None) -> None:
        """What these tasks waited for is over: each is ready once nothing else is missing, or fails for the cause."""
        for task in tasks:
            entry = self.entries.get(task)
            if entry is None or not entry.waits or over not in entry.waits:
                continue
            entry.waits.discard(over)
            if cause is not None or not entry.waits:
                self.todo.append((entry, cause))
