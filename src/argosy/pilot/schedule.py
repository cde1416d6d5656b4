"""Which task runs where, next: a state machine without clock, threads or I/O.

Events go in, instructions come out, and the same events always give the same instructions. Every batch of events ends
with one look at the queue: the first task in line starts as soon as it fits, all of its ranks at once, and tasks behind
it start earlier only when that cannot delay it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any

from argosy.pilot.attempt import Attempt, Verdict
from argosy.pilot.backfill import Guard
from argosy.pilot.capacity import Capacity
from argosy.pilot.deadlines import Deadlines
from argosy.pilot.entry import Entry
from argosy.pilot.fits import never_fits
from argosy.pilot.lineage import Residents, Value, why_not_remade
from argosy.pilot.protocol import (
    CancelAsked,
    Cause,
    Drop,
    Event,
    Finish,
    InputFailed,
    Instruction,
    Lost,
    NeverFits,
    Outcome,
    RankEnded,
    RankGone,
    RankJoined,
    ReleaseAsked,
    Replace,
    Start,
    Stop,
    Submitted,
    Tick,
    TimedOut,
    ValueGone,
)
from argosy.pilot.queue import Queue
from argosy.pilot.shape import PLAIN, Shape, shape_of
from argosy.pilot.task import State
from argosy.resources import Allocation, Need, Slots

_MOST_ORPHANINGS = 3
"""How often a task runs again after its ranks stopped as if a peer had died, though none did."""


class Schedule:
    """Which task runs where. Ranks are absent until they join; times never run backwards."""

    def __init__(self, allocation: Allocation, *, grace_seconds: float = 2.0) -> None:
        """Ranks that were told to stop are replaced after the grace."""
        self._grace_seconds = grace_seconds
        self._capacity = Capacity(allocation)
        self._queue = Queue()
        self._entries: dict[int, Entry] = {}
        self._final: dict[int, State] = {}
        """How tasks ended, until they are released."""
        self._residents = Residents()
        self._deadlines = Deadlines(self._is_running)
        self._occupant = [-1] * allocation.num_ranks
        """The task that was started last on each rank."""
        self._running: dict[Shape, dict[int, int]] = {}
        """How many attempts run of each shape and size."""
        self._num_running = 0
        self._never: dict[Need, NeverFits | None] = {}
        self._now = 0.0
        self._look = False
        """Something changed that may let a task start."""
        self._todo: deque[tuple[Entry, State | None, Cause | None]] = deque()
        """Waiting entries that have become ready (no state) or have come to their end."""
        self._out: list[Instruction] = []
        self._handlers: dict[type[Any], Callable[[Any], None]] = {
            Submitted: self._on_submitted,
            RankEnded: self._on_ended,
            CancelAsked: self._on_cancel,
            ReleaseAsked: self._on_release,
            RankJoined: self._on_joined,
            RankGone: self._on_gone,
            Tick: lambda _: None,
        }

    # What callers use -------------------------------------------------------------------------------------------------

    def handle(self, events: Iterable[Event]) -> list[Instruction]:
        """Take in what happened, in this order, and say what to do, in this order."""
        out = self._out = []
        handlers, todo = self._handlers, self._todo
        for event in events:
            if event.time > self._now:
                self._now = event.time
            handlers[type(event)](event)
            if todo:
                self._settle()
        for task in self._deadlines.pop_due(self._now):
            self._expire(self._entries[task])
        if self._look:
            self._look = False
            self._start_what_fits()
        return out

    @property
    def next_deadline(self) -> float | None:
        """When a `Tick` is wanted next."""
        return self._deadlines.next

    def can_ever_fit(self, need: Need) -> NeverFits | None:
        """None if the need can be met once enough has ended and all ranks that may come are there; else why not."""
        if need not in self._never:
            self._never[need] = never_fits(self._capacity, need)
        return self._never[need]

    def state_of(self, task: int) -> State | None:
        """None for a task that was never submitted, or was released after its end."""
        entry = self._entries.get(task)
        if entry is not None and not entry.finished:
            return entry.state
        return self._final.get(task)

    @property
    def num_queued(self) -> int:
        """Tasks that could start if there were room; those that wait for others do not count."""
        return len(self._queue)

    @property
    def num_running(self) -> int:
        return self._num_running

    @property
    def free_ranks(self) -> int:
        return self._capacity.free_ranks

    # Events -----------------------------------------------------------------------------------------------------------

    def _on_submitted(self, event: Submitted) -> None:
        task = event.task
        entry = self._entries[task.id] = Entry(task)
        never = self.can_ever_fit(task.need)
        if never is not None:
            self._finish(entry, State.FAILED, never)
        elif not task.after and not task.on:
            self._promote(entry)
        else:
            cause = self._wait_for_inputs(entry)
            if cause is not None:
                self._finish(entry, State.FAILED, cause)
            elif not entry.waits:
                self._promote(entry)

    def _on_ended(self, event: RankEnded) -> None:
        entry = self._entries.get(event.task)
        if entry is None:
            return
        attempt = entry.attempt
        if attempt is None or attempt.number != event.attempt or event.rank not in attempt.left:
            return
        attempt.left.remove(event.rank)
        if event.outcome is not Outcome.RETURNED:
            attempt.end_without_value(event.rank, event.outcome)
            self._stop(entry, attempt)
        if not attempt.left:
            self._end(entry, attempt)

    def _on_cancel(self, event: CancelAsked) -> None:
        entry = self._entries.get(event.task)
        if entry is None or entry.finished or entry.cancelled:
            return
        if entry.attempt is not None:
            entry.cancelled = True
            self._stop(entry, entry.attempt)
            return
        self._unqueue(entry)
        self._finish(entry, State.CANCELLED)

    def _on_release(self, event: ReleaseAsked) -> None:
        self._final.pop(event.task, None)
        entry = self._entries.get(event.task)
        if entry is not None:
            entry.released = True
            self._forget_if_unused(entry)

    def _on_joined(self, event: RankJoined) -> None:
        capacity = self._capacity
        if capacity.present[event.rank]:
            return
        if capacity.dead[event.rank]:
            self._never.clear()
        capacity.join(event.rank)
        self._look = True

    def _on_gone(self, event: RankGone) -> None:
        rank, capacity = event.rank, self._capacity
        was_there = capacity.present[rank]
        capacity.leave(rank, returns=event.returns)
        self._look = True  # also because a first task in line may have gone
        for task in self._residents.on(rank):
            self._lose_value(self._entries[task], rank)
        entry = self._entries.get(self._occupant[rank])
        attempt = None if entry is None else entry.attempt
        if was_there and entry and attempt and rank in attempt.slots.ranks and rank not in (attempt.gone or ()):
            shape = shape_of(entry.task.need)
            capacity.abandon(shape, attempt.slots, rank)
            self._count_running(shape, attempt.size, -1)
            attempt.lose(rank)
            self._count_running(shape, attempt.size, +1)
            self._stop(entry, attempt)
            if not attempt.left:
                self._end(entry, attempt)
        if not event.returns:
            self._never.clear()
            self._review_queue(rank)

    def _expire(self, entry: Entry) -> None:
        """A deadline of its attempt has come: that of its timeout, or that of ranks which do not leave."""
        attempt = entry.attempt
        assert attempt is not None
        if not attempt.stopping:
            assert entry.task.timeout_seconds is not None
            attempt.cause = attempt.cause or TimedOut(entry.task.timeout_seconds)
            self._stop(entry, attempt)
        elif attempt.grace_ends <= self._now and not attempt.replaced:
            attempt.replaced = True
            self._out.extend(Replace(rank) for rank in sorted(attempt.left))

    # From waiting to queued to running --------------------------------------------------------------------------------

    def _wait_for_inputs(self, entry: Entry) -> Cause | None:
        """Note whom the new task waits for and whose values it uses, or say why it cannot run."""
        task, waits = entry.task, set()
        for dep in dict.fromkeys(task.after + task.on):
            other = self._entries.get(dep)
            if other is not None and not other.finished:
                waits.add(dep)
                if other.dependents is None:
                    other.dependents = []
                other.dependents.append(task.id)
            elif other is None and self._final.get(dep) is not State.DONE:
                known = dep in self._final or dep not in task.on
                return InputFailed(dep) if known else ValueGone(dep, "its value was released")
        for dep in task.on:
            other = self._entries.get(dep)
            if other is None or other.kept is None:
                return ValueGone(dep, "its value was not kept")
            other.kept.users[task.id] = None
        entry.waits = waits
        return None

    def _settle(self) -> None:
        """Carry on with entries that have become ready or have come to their end, and with what follows from that."""
        while self._todo:
            entry, state, cause = self._todo.popleft()
            if entry.state is not State.WAITING:
                continue
            if state is not None:
                self._finish(entry, state, cause)
            elif not entry.waits:
                self._promote(entry)

    def _promote(self, entry: Entry) -> None:
        """Queue a task whose inputs are done; if a value that it runs on is lost, first have that made again."""
        task, capacity = entry.task, self._capacity
        pinned = None
        if task.on:
            if self._wait_for_values(entry):
                return
            pinned, cause = self._ranks_of_values(entry)
            if cause is not None:
                self._finish(entry, State.FAILED, cause)
                return
        else:
            never = self.can_ever_fit(task.need)
            if never is not None:
                self._finish(entry, State.FAILED, never)
                return
            if entry.finished and entry.kept is not None:
                shape = shape_of(task.need)
                pinned = self._residents.home(
                    entry.kept.ranks, capacity.dead, capacity.node_of_rank, lambda node: capacity.most(node, shape)
                )
        entry.state = State.QUEUED
        self._queue.push(task.id, task.priority, task.need, pinned)
        self._look = True

    def _start_what_fits(self) -> None:
        """The look at the queue."""
        capacity, queue, order = self._capacity, self._queue, self._queue.order
        guard: Guard | None = None
        head = None
        at = 0
        while at < len(order) and capacity.free_ranks:
            line = order[at][2]
            slots = None
            if head is None:
                slots = capacity.try_claim(line.shape, line.ranks, line.pinned)
                head = line if slots is None else None
            elif line.ranks <= capacity.free_ranks:
                guard = guard or Guard(capacity, head, self._running)
                slots = guard.claim(line)
            if slots is None:
                at += 1
            else:
                self._start(self._entries[queue.pop(at)], line.shape, slots)
        if guard is not None:
            guard.lift()

    def _start(self, entry: Entry, shape: Shape, slots: Slots) -> None:
        task = entry.task
        number = entry.attempts
        entry.attempts = number + 1
        entry.attempt = Attempt(number, slots)
        entry.state = State.RUNNING
        occupant = self._occupant
        for rank in slots.ranks:
            occupant[rank] = task.id
        self._num_running += 1
        self._count_running(shape, len(slots.ranks), +1)
        if task.timeout_seconds is not None:
            self._deadlines.add(self._now + task.timeout_seconds, task.id, number)
        self._out.append(Start(task.id, number, slots))

    def _unqueue(self, entry: Entry) -> None:
        """Back to waiting."""
        if entry.state is State.QUEUED:
            self._queue.remove(entry.task.id)
            entry.state = State.WAITING
            self._look = True  # it may have been first in line

    # From running to its end ------------------------------------------------------------------------------------------

    def _stop(self, entry: Entry, attempt: Attempt) -> None:
        if attempt.stopping:
            return
        attempt.stopping = True
        if attempt.left:
            attempt.grace_ends = self._now + self._grace_seconds
            self._out.append(Stop(entry.task.id, attempt.number, tuple(sorted(attempt.left))))
            self._deadlines.add(attempt.grace_ends, entry.task.id, attempt.number)

    def _end(self, entry: Entry, attempt: Attempt) -> None:
        """All ranks have left or are lost: free the slots, and finish or run again."""
        task, shape = entry.task, shape_of(entry.task.need)
        entry.attempt = None
        entry.state = State.WAITING
        self._num_running -= 1
        self._count_running(shape, attempt.size, -1)
        self._capacity.release(shape, attempt.slots, attempt.gone)
        self._look = True
        verdict = attempt.verdict()
        if verdict is Verdict.DONE and not entry.cancelled:
            if entry.kept is not None:
                entry.kept.ranks = attempt.slots.ranks
                entry.kept.value = Value.HELD
                self._residents.hold(task.id, attempt.slots.ranks)
            self._finish(entry, State.DONE)
            return
        if task.keep and (ranks := attempt.returned()):
            self._out.append(Drop(task.id, ranks))
        if entry.cancelled:
            self._finish(entry, State.CANCELLED)
            return
        cause = attempt.cause
        if verdict is Verdict.FAILED:
            entry.failures += 1
        elif verdict is Verdict.ORPHANED and attempt.orphan is not None:
            entry.orphaned += 1
            cause = Lost(attempt.orphan)
        if entry.failures > task.retries or entry.orphaned > _MOST_ORPHANINGS:
            self._finish(entry, State.FAILED, cause)
        else:
            self._todo.append((entry, None, None))

    def _finish(self, entry: Entry, state: State, cause: Cause | None = None) -> None:
        """The task has come to its end, or the work that makes its value again has."""
        task, kept = entry.task, entry.kept
        entry.state = state
        for dep in task.on:
            self._leave_value(dep, task.id)
        if entry.finished:
            self._after_remaking(entry, state, cause)
            return
        entry.finished = True
        self._out.append(Finish(task.id, state, cause))
        if not entry.released:
            self._final[task.id] = state
        if state is not State.DONE or kept is None:
            del self._entries[task.id]
        else:
            self._forget_if_unused(entry)
        for dependent in entry.dependents or ():
            other = self._entries.get(dependent)
            if other is None or other.waits is None:
                continue
            if state is not State.DONE:
                self._todo.append((other, State.FAILED, InputFailed(task.id)))
                continue
            other.waits.discard(task.id)
            if not other.waits:
                self._todo.append((other, None, None))
        entry.dependents = None

    # Kept values ------------------------------------------------------------------------------------------------------

    def _wait_for_values(self, entry: Entry) -> bool:
        """Whether values that it runs on are lost; they are being made again then, and it waits for them."""
        missing = {dep: self._entries[dep] for dep in entry.task.on}
        missing = {dep: other for dep, other in missing.items() if other.kept and other.kept.value is not Value.HELD}
        if missing:
            entry.waits = set(missing)
            for other in missing.values():
                assert other.kept is not None
                other.kept.waiters.append(entry.task.id)
                if other.kept.value is Value.LOST:
                    self._remake(other)
        return bool(missing)

    def _ranks_of_values(self, entry: Entry) -> tuple[tuple[int, ...], Cause | None]:
        """The ranks of the values that it runs on, or why they do not do."""
        capacity, need, shape = self._capacity, entry.task.need, shape_of(entry.task.need)
        first, *others = entry.task.on
        ranks = self._kept_ranks(first)
        for dep in others:
            if self._kept_ranks(dep) != ranks:
                return ranks, ValueGone(dep, f"it is not on the same ranks as that of task {first}")
        if need.ranks != len(ranks):
            return ranks, ValueGone(first, f"it is on {len(ranks)} ranks, but {need.ranks} were asked")
        if shape != PLAIN:
            for node, count in Counter(capacity.node_of_rank[rank] for rank in ranks).items():
                if capacity.most(node, shape) < count:
                    name = capacity.allocation.nodes[node].name
                    return ranks, ValueGone(first, f"it is on node {name}, which has less than the task needs")
        return ranks, None

    def _kept_ranks(self, task: int) -> tuple[int, ...]:
        kept = self._entries[task].kept
        return kept.ranks if kept is not None else ()

    def _lose_value(self, entry: Entry, rank: int) -> None:
        """A rank with a piece of it died: the other pieces are of no use; who is queued for it waits for a new one."""
        task, kept = entry.task.id, entry.kept
        assert kept is not None
        kept.value = Value.LOST
        self._residents.drop(task, kept.ranks)
        rest = tuple(other for other in kept.ranks if other != rank)
        if rest:
            self._out.append(Drop(task, rest))
        for user in kept.users:
            other = self._entries[user]
            if other.state is State.QUEUED:
                self._unqueue(other)
                self._todo.append((other, None, None))

    def _remake(self, entry: Entry) -> None:
        """Run a task again whose value is lost. That uses none of its retries, and nobody is told of its end."""
        assert entry.kept is not None
        entry.kept.value = Value.REMAKING
        entry.state = State.WAITING
        entry.waits = None
        entry.failures = entry.orphaned = 0
        for dep in entry.task.on:
            other = self._entries.get(dep)
            if other is None or other.kept is None:
                self._todo.append((entry, State.FAILED, ValueGone(dep, "its value was released")))
                return
            other.kept.users[entry.task.id] = None
        self._todo.append((entry, None, None))

    def _after_remaking(self, entry: Entry, state: State, cause: Cause | None) -> None:
        kept = entry.kept
        assert kept is not None
        waiters, kept.waiters = kept.waiters, []
        if state is not State.DONE:
            kept.value = Value.LOST
        for waiter in waiters:
            other = self._entries.get(waiter)
            if other is None or other.waits is None or entry.task.id not in other.waits:
                continue
            if state is not State.DONE:
                self._todo.append((other, State.FAILED, ValueGone(entry.task.id, why_not_remade(cause))))
                continue
            other.waits.discard(entry.task.id)
            if not other.waits:
                self._todo.append((other, None, None))
        entry.state = State.DONE
        self._forget_if_unused(entry)

    def _leave_value(self, task: int, user: int) -> None:
        entry = self._entries.get(task)
        if entry is not None and entry.kept is not None:
            entry.kept.users.pop(user, None)
            self._forget_if_unused(entry)

    def _forget_if_unused(self, entry: Entry) -> None:
        """Drop a value that is released once nobody needs it. One that is just being made again is dropped then."""
        kept = entry.kept
        if not entry.released or not entry.finished or kept is None or kept.users or entry.attempt is not None:
            return
        if self._entries.pop(entry.task.id, None) is None:
            return
        if kept.value is Value.HELD:
            self._residents.drop(entry.task.id, kept.ranks)
            self._out.append(Drop(entry.task.id, kept.ranks))
        elif kept.value is Value.REMAKING:
            self._unqueue(entry)
            entry.state = State.DONE
            for dep in entry.task.on:
                self._leave_value(dep, entry.task.id)

    # Small parts ------------------------------------------------------------------------------------------------------

    def _review_queue(self, rank: int) -> None:
        """A rank is gone for good: what can no longer be met fails, what was to run on it finds another place."""
        for _, _, line in list(self._queue.order):
            never = self.can_ever_fit(line.need) if line.pinned is None else None
            if never is None and rank not in (line.pinned or ()):
                continue
            for task in self._queue.tasks(line):
                entry = self._entries[task]
                self._unqueue(entry)
                self._todo.append((entry, State.FAILED, never) if never is not None else (entry, None, None))

    def _count_running(self, shape: Shape, size: int, change: int) -> None:
        sizes = self._running.get(shape)
        if sizes is None:
            sizes = self._running[shape] = {}
        count = sizes.get(size, 0) + change
        if count:
            sizes[size] = count
            return
        del sizes[size]
        if not sizes:
            del self._running[shape]

    def _is_running(self, task: int, attempt: int) -> bool:
        entry = self._entries.get(task)
        return entry is not None and entry.attempt is not None and entry.attempt.number == attempt
