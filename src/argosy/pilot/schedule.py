"""Which task runs where, next: a state machine without clock, threads or I/O.

Events go in, instructions come out, and the same events always give the same instructions. Every batch of events ends
with one look at the queue: the first task in line starts as soon as it fits, all of its ranks at once, and tasks behind
it start earlier only when that cannot delay it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from argosy.pilot.attempt import Attempt, Running, Verdict
from argosy.pilot.backfill import Guard
from argosy.pilot.capacity import Capacity
from argosy.pilot.cores import Cores
from argosy.pilot.deadlines import Deadlines
from argosy.pilot.entry import Entry, Work
from argosy.pilot.fits import never_fits
from argosy.pilot.lineage import Lineage
from argosy.pilot.protocol import (
    CancelAsked,
    Cause,
    Drop,
    Event,
    Finish,
    InputFailed,
    Instruction,
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
from argosy.pilot.shape import Shape, shape_of
from argosy.pilot.task import State
from argosy.resources import Allocation, Need, Slots

_RETURNED = Outcome.RETURNED  # looked up for every rank of every task, and enums are slow at that
_MOST_NEEDS = 4096
"""How many needs are remembered as possible or not."""


class Schedule:
    """Which task runs where. Ranks are absent until they join; times never run backwards."""

    def __init__(self, allocation: Allocation, *, grace_seconds: float = 2.0) -> None:
        """Ranks that were told to stop are replaced after the grace."""
        self._grace_seconds = grace_seconds
        self._capacity = Capacity(allocation)
        self._cores = Cores(allocation)
        self._work = Work()
        self._entries = self._work.entries
        self._final: dict[int, State] = {}
        """How tasks ended, until they are released."""
        self._lineage = Lineage(self._work, self._capacity)
        self._deadlines = Deadlines(self._is_running)
        self._occupant = [-1] * allocation.num_ranks
        """The task that was started last on each rank."""
        self._running = Running()
        self._never: dict[Need, NeverFits | None] = {}
        self._now = 0.0
        self._handlers: dict[type[Any], Callable[[Any], None]] = {
            Submitted: self._on_submitted,
            RankEnded: self._on_ended,
            CancelAsked: self._on_cancel,
            ReleaseAsked: self._on_release,
            RankJoined: self._on_joined,
            RankGone: self._on_gone,
            Tick: lambda _: None,
        }

    # What callers use ------------------------------------------------------------------------------------------------

    def handle(self, events: Iterable[Event]) -> list[Instruction]:
        """Take in what happened, in this order, and say what to do, in this order."""
        work, handlers, now = self._work, self._handlers, self._now
        todo = work.todo
        out = work.out = []
        for event in events:
            if event.time > now:
                now = self._now = event.time
            handlers[type(event)](event)
            if todo:
                self._settle()
        for task in self._deadlines.pop_due(self._now):
            self._expire(work.entries[task])
        if work.look:
            work.look = False
            self._start_what_fits()
        return out

    @property
    def next_deadline(self) -> float | None:
        """When a `Tick` is wanted next."""
        return self._deadlines.next

    def gpu_names(self, slots: Slots) -> tuple[tuple[str, ...], ...]:
        """What CUDA calls the GPUs of each rank of the slots."""
        nodes = self._capacity.allocation.nodes
        of_ranks = zip(slots.nodes, slots.gpus, strict=False)  # no GPUs at all where none was asked for
        return tuple(tuple(nodes[node].gpu_name(gpu) for gpu in gpus) for node, gpus in of_ranks)

    def can_ever_fit(self, need: Need) -> NeverFits | None:
        """None if the need can be met once enough has ended and all ranks that may come are there; else why not.

        May be asked from any thread.
        """
        known = self._never  # replaced, never emptied: a late answer of another thread must not outlive it
        try:
            return known[need]
        except KeyError:
            answer = known[need] = never_fits(self._capacity, need)
            if len(known) > _MOST_NEEDS:
                self._never = {}
            return answer

    def state_of(self, task: int) -> State | None:
        """None for a task that was never submitted, or was released after its end."""
        entry = self._entries.get(task)
        if entry is not None and not entry.finished:
            return entry.state
        return self._final.get(task)

    def remembers(self, task: int) -> bool:
        """Whether the task may be started, or started again: it is not over, or its kept value is still wanted."""
        return task in self._entries

    @property
    def num_queued(self) -> int:
        """Tasks that could start if there were room; those that wait for others do not count."""
        return len(self._work.queue)

    @property
    def num_running(self) -> int:
        return self._running.num_attempts

    @property
    def free_ranks(self) -> int:
        return self._capacity.free_ranks

    # Events ----------------------------------------------------------------------------------------------------------

    def _on_submitted(self, event: Submitted) -> None:
        task = event.task
        entry = self._entries[task.id] = Entry(task)
        if task.after or task.on:
            cause = self.can_ever_fit(task.need) or self._wait_for_inputs(entry)
            if cause is not None:
                self._finish(entry, State.FAILED, cause)
                return
        if not entry.waits:
            self._promote(entry)

    def _on_ended(self, event: RankEnded) -> None:
        entry = self._entries.get(event.task)
        if entry is None or (attempt := entry.attempt) is None or attempt.number != event.attempt:
            return
        rank, left = event.rank, attempt.left
        if rank not in left:
            return
        left.remove(rank)
        if event.outcome is not _RETURNED:
            attempt.end_without_value(rank, event.outcome)
            self._stop(entry, attempt)
        if not left:
            self._end(entry, attempt)

    def _on_cancel(self, event: CancelAsked) -> None:
        entry = self._entries.get(event.task)
        if entry is None or entry.finished or entry.cancelled:
            return
        if entry.attempt is not None:
            entry.cancelled = True
            self._stop(entry, entry.attempt)
            return
        self._work.unqueue(entry)
        self._finish(entry, State.CANCELLED)

    def _on_release(self, event: ReleaseAsked) -> None:
        self._final.pop(event.task, None)
        entry = self._entries.get(event.task)
        if entry is not None:
            entry.released = True
            self._lineage.forget_if_unused(entry)

    def _on_joined(self, event: RankJoined) -> None:
        capacity = self._capacity
        if capacity.present[event.rank]:
            return
        if capacity.dead[event.rank]:
            self._never = {}
        capacity.join(event.rank)
        self._work.look = True

    def _on_gone(self, event: RankGone) -> None:
        rank, capacity = event.rank, self._capacity
        was_there = capacity.present[rank]
        capacity.leave(rank, returns=event.returns)
        self._work.look = True  # also because a first task in line may have gone
        self._lineage.lose(rank)
        entry = self._entries.get(self._occupant[rank])
        attempt = None if entry is None else entry.attempt
        if was_there and entry and attempt and rank in attempt.slots.ranks and rank not in (attempt.gone or ()):
            shape = shape_of(entry.task.need)
            capacity.abandon(shape, attempt.slots, rank)
            self._cores.let_go(attempt.slots, (rank,))
            self._running.remove(shape, attempt.size)
            attempt.lose(rank)
            self._running.add(shape, attempt.size)
            self._stop(entry, attempt)
            if not attempt.left:
                self._end(entry, attempt)
        if not event.returns:
            self._never = {}
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
            self._work.out.extend(Replace(rank) for rank in sorted(attempt.left))

    # From waiting to queued to running -------------------------------------------------------------------------------

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
        entry.waits = waits
        return self._lineage.use(entry)

    def _settle(self) -> None:
        """Carry on with entries that have become ready or have come to their end, and with what follows from that."""
        todo = self._work.todo
        while todo:
            entry, cause = todo.popleft()
            if entry.state is not State.WAITING:
                continue
            if cause is not None:
                self._finish(entry, State.FAILED, cause)
            elif not entry.waits:
                self._promote(entry)

    def _promote(self, entry: Entry) -> None:
        """Queue a task whose inputs are done; if a value that it runs on is lost, first have that made again."""
        pinned: tuple[int, ...] | None = None
        cause: Cause | None
        if entry.task.on:
            if self._lineage.wait(entry):
                return
            pinned, cause = self._lineage.ranks_for(entry)
        else:
            cause = self.can_ever_fit(entry.task.need)
            if cause is None and entry.finished:
                pinned = self._lineage.home(entry)
        if cause is not None:
            self._finish(entry, State.FAILED, cause)
        else:
            self._work.queue_up(entry, pinned)

    def _start_what_fits(self) -> None:
        """The look at the queue."""
        capacity, queue = self._capacity, self._work.queue
        order = queue.order
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
                guard = guard or Guard(capacity, head, self._running.sizes)
                if guard.bars_single_cores and not queue.num_wide:
                    break
                slots = guard.claim(line)
            if slots is None:
                at += 1
            else:
                self._start(self._entries[queue.pop(at)], line.shape, slots)
        if guard is not None:
            guard.lift()

    def _start(self, entry: Entry, shape: Shape, slots: Slots) -> None:
        task = entry.task
        if task.need.held_to_cores:
            slots = self._cores.hold(slots, task.need.cores_per_rank)
        number = entry.attempts
        entry.attempts = number + 1
        entry.attempt = Attempt(number, slots)
        entry.state = State.RUNNING
        occupant = self._occupant
        for rank in slots.ranks:
            occupant[rank] = task.id
        self._running.add(shape, len(slots.ranks))
        if task.timeout_seconds is not None:
            self._deadlines.add(self._now + task.timeout_seconds, task.id, number)
        self._work.out.append(Start(task.id, number, slots))

    # From running to its end -----------------------------------------------------------------------------------------

    def _stop(self, entry: Entry, attempt: Attempt) -> None:
        if attempt.stopping:
            return
        attempt.stopping = True
        if attempt.left:
            attempt.grace_ends = self._now + self._grace_seconds
            self._work.out.append(Stop(entry.task.id, attempt.number, tuple(sorted(attempt.left))))
            self._deadlines.add(attempt.grace_ends, entry.task.id, attempt.number)

    def _end(self, entry: Entry, attempt: Attempt) -> None:
        """All ranks have left or are lost: free the slots, and finish or run again."""
        task, shape = entry.task, shape_of(entry.task.need)
        entry.attempt = None
        entry.state = State.WAITING
        self._running.remove(shape, attempt.size)
        self._capacity.release(shape, attempt.slots, attempt.gone)
        if task.need.held_to_cores:
            self._cores.let_go(attempt.slots, set(attempt.slots.ranks) - (attempt.gone or set()))
        self._work.look = True
        verdict = attempt.verdict()
        if verdict is Verdict.DONE and not entry.cancelled:
            self._lineage.hold(entry, attempt.slots.ranks)
            self._finish(entry, State.DONE)
            return
        if task.keep and (ranks := attempt.returned()):
            self._work.out.append(Drop(task.id, ranks))
        if entry.cancelled:
            self._finish(entry, State.CANCELLED)
            return
        again, cause = entry.count(attempt, verdict)
        if again:
            self._work.todo.append((entry, None))
        else:
            self._finish(entry, State.FAILED, cause)

    def _finish(self, entry: Entry, state: State, cause: Cause | None = None) -> None:
        """The task has come to its end, or the work that makes its value again has."""
        task, work = entry.task, self._work
        entry.state = state
        if entry.finished:
            self._lineage.leave(entry)
            self._lineage.remade(entry, cause)
            return
        entry.finished = True
        work.out.append(Finish(task.id, state, cause))
        if task.on:
            self._lineage.leave(entry)
        if not entry.released:
            self._final[task.id] = state
        if state is not State.DONE or entry.kept is None:
            del work.entries[task.id]
        else:
            self._lineage.forget_if_unused(entry)
        if entry.dependents:
            work.settle_waiting(entry.dependents, task.id, None if state is State.DONE else InputFailed(task.id))
            entry.dependents = None

    # Small parts -----------------------------------------------------------------------------------------------------

    def _review_queue(self, rank: int) -> None:
        """A rank is gone for good: what can no longer be met fails, what was to run on it finds another place."""
        work = self._work
        for _, _, line in list(work.queue.order):
            never = self.can_ever_fit(line.need) if line.pinned is None else None
            if never is not None or rank in (line.pinned or ()):
                for task in work.queue.tasks(line):
                    entry = work.entries[task]
                    work.unqueue(entry)
                    work.todo.append((entry, never))

    def _is_running(self, task: int, attempt: int) -> bool:
        entry = self._entries.get(task)
        return entry is not None and entry.attempt is not None and entry.attempt.number == attempt
