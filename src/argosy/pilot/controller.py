"""The thread in the user's process that runs a pilot: it carries words between users, schedule, crew and ranks.

It decides nothing. Users' calls come through `post`, messages through the wire, losses from the launcher; each becomes
an event of the `Schedule`, and what the schedule asks for is done.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from argosy.errors import PilotClosed
from argosy.events import Event
from argosy.pilot import folder as run_folder
from argosy.pilot import protocol, wire
from argosy.pilot.callbacks import Callback, Callbacks
from argosy.pilot.cargo import Call, Failure
from argosy.pilot.crew import Crew
from argosy.pilot.fleet import Phase
from argosy.pilot.folder import EventLog
from argosy.pilot.future import Future
from argosy.pilot.outcome import Known, Trouble, trouble_of
from argosy.pilot.schedule import Schedule
from argosy.pilot.shelf import Parcel, label, receive
from argosy.pilot.start import StartMessage
from argosy.pilot.task import State, Task
from argosy.pilot.teams import Teams
from argosy.pilot.wire import Kind
from argosy.resources import Slots

_MOST_MESSAGES_A_TURN = 256
_PATIENCE_WITH_CALLBACKS_SECONDS = 3.0
_NO_SLOTS = Slots((), ())


@dataclass(slots=True)
class TaskRecord:
    """What is remembered of a task: until it has ended, or as long as its kept value may have to be made again."""

    task: Task
    call: Call
    wants_comm: bool
    future: Future | None
    """Let go once the task has ended, so that only its user holds it."""
    slots: Slots = _NO_SLOTS
    attempt: int = -1
    """The newest."""
    team: tuple[int, ...] = ()
    """The processes that share a communicator in the newest attempt, if they do."""
    parts: dict[int, bytes | Parcel] = field(default_factory=dict)
    """What each rank of the newest attempt returned."""
    failures: dict[tuple[int, int], Failure] = field(default_factory=dict)
    """What was raised, by rank and attempt."""

    @property
    def label(self) -> str:
        return f"task {self.task.id} ({self.task.name})"


class Controller:
    def __init__(self, schedule: Schedule, server: wire.Server, log: EventLog, folder: Path) -> None:
        self._schedule = schedule
        self._server = server
        self._log = log
        self._folder = folder
        self._tasks: dict[int, TaskRecord] = {}
        self._teams = Teams()
        self._troubles: dict[int, Trouble] = {}
        """Of failed tasks whose Future is still held by somebody: dependents want it as their cause."""
        self._released: set[int] = set()
        self._untold: dict[int, Future] = {}
        """All that were submitted and do not know yet how they ended: whatever happens to this thread, they must."""
        self._news: deque[tuple[Future, Trouble | None]] = deque()
        """Futures to be told that their task has ended, and how."""
        self._callbacks = Callbacks()
        self._inbox: deque[Callable[[], None]] = deque()
        self._garbage: deque[int] = deque()
        self._events: list[protocol.Event] = []
        self._bell, self._button = socket.socketpair()
        self._bell.setblocking(False)
        self._button.setblocking(False)
        server.watch(self._bell.fileno())
        self._asleep = False
        self._over = False
        self._gone = False
        """Nobody takes posts any more but whoever makes them."""
        self.failure: PilotClosed | None = None
        """What ended it, if nobody had asked it to end."""
        self._num_open = 0
        self._idle_waiters: list[threading.Event] = []
        self._up = threading.Event()
        self._epoch_of_clock = time.time() - time.monotonic()
        self._now = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="argosy-controller", daemon=True)

    # For any thread --------------------------------------------------------------------------------------------------

    def start(self, crew: Crew) -> None:
        self._crew = crew
        self._thread.start()

    def wait_until_up(self) -> bool:
        """Until the first world is there, or has failed for good: which of the two."""
        self._up.wait()
        return not self._over and self._crew.fleet.phase is not Phase.OVER

    def is_own_thread(self) -> bool:
        return threading.current_thread() is self._thread

    @property
    def is_over(self) -> bool:
        return self._over

    @property
    def num_open(self) -> int:
        """Tasks that have not ended."""
        return self._num_open

    def submit(self, record: TaskRecord) -> None:
        assert record.future is not None
        self._untold[record.task.id] = record.future
        self.post(lambda: self._submit(record))

    def cancel(self, task: int) -> None:
        self.post(lambda: self._events.append(protocol.CancelAsked(self._now, task)))

    def release(self, task: int, soon: bool) -> None:
        """May be called by the garbage collector in any thread, so it takes no lock. `soon`: it has a value to free."""
        self._garbage.append(task)
        if soon and self._asleep:
            self._wake()

    def wait_until_idle(self, timeout: float | None) -> bool:
        """Until no task is left that has not ended."""
        idle = threading.Event()
        self.post(lambda: self._idle_waiters.append(idle))
        return idle.wait(timeout)

    def tell(self, callback: Callback, future: Future) -> None:
        """A task has ended: have the callback called, but not in the thread that everything waits for."""
        if self.is_own_thread():
            self._callbacks.add(callback, future)
        else:
            callback(future)

    def close(self, error: PilotClosed) -> bool:
        """End every task with this error, and every process. Returns when nothing is left but callbacks that take long;
        False when something may be left because a guard was killed.

        The garbage collector may call it in the controller's own thread, which then ends by itself.
        """
        if not self._over:
            self.post(lambda: self._close(error))
        if not self.is_own_thread():
            self._thread.join()
            self._callbacks.finish(_PATIENCE_WITH_CALLBACKS_SECONDS)
        return self._crew.was_guarded

    def wait_for_callbacks(self) -> None:
        """Once it is closed: until all have run."""
        self._callbacks.finish(None)

    def leave_to_parent(self, error: PilotClosed) -> None:
        """In the child of a fork: the thread that would end these tasks is not in this process."""
        self._over = self._gone = True
        self.failure = error
        self._button.close()
        self._bell.close()
        self._untold, untold = {}, self._untold
        for future in untold.values():
            future.abandon(Known(error))

    def post(self, action: Callable[[], None]) -> None:
        """Have the controller's thread do this."""
        self._inbox.append(action)
        if self._asleep:
            self._asleep = False
            self._wake()
        if self._gone:
            self._take_posts()
            self._tell_idle_waiters()

    def record(self, now: float, kind: str, number: int, state: str, fields: dict[str, object]) -> None:
        self._log.add(Event(self._epoch_of_clock + now, kind, number, state, fields))

    # The thread ------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._crew.start(self._now)
            while not self._over:
                self._turn()
        except BaseException as error:
            self._fail(error)
        self._over = True
        self._up.set()
        for step in (self._crew.wait, self._server.close, self._log.close):
            self._try(step)
        self._gone = True
        self._take_posts()  # of whoever called too late; from now on they do it themselves
        self._tell_all(PilotClosed("the pilot has ended"))
        self._tell_idle_waiters()
        self._button.close()
        self._bell.close()

    def _fail(self, error: BaseException) -> None:
        """A mistake of Argosy's: nothing can be relied on here, but that everybody hears of it and nothing is left."""
        self._over = True
        words = "".join(traceback.format_exception(error))
        hint = ""
        if not isinstance(error, (OSError, MemoryError)):  # these are the machine's
            hint = f"; this is a mistake in Argosy, please report it with {run_folder.launcher_log(self._folder)}"
        self.failure = closed = PilotClosed(
            f"the pilot's controller failed and ended the pilot: {type(error).__name__}: {error}{hint}"
        )
        closed.__cause__ = error
        self._try(lambda: self._crew.note(words))
        self._try(lambda: self._tell_all(closed))
        self._up.set()
        self._tell_idle_waiters()
        self._try(lambda: self._crew.close(gently=False))

    def _try(self, step: Callable[[], object]) -> None:
        """Do this on the way out; should it fail, the next step counts all the more."""
        try:
            step()
        except BaseException as error:
            traceback.print_exception(error)

    def _tell_all(self, error: PilotClosed) -> None:
        """Let no Future be left that waits for ever. Those whose end is known hear of that."""
        while self._news:
            self._try(partial(self._tell, *self._news.popleft()))
        while self._untold:
            _, future = self._untold.popitem()
            future.fail(Known(error))

    def _turn(self) -> None:
        self._asleep = True
        timeout = 0.0 if self._inbox else self._until_next_deadline()
        peer_gone, readable = self._server.wait(timeout)
        self._asleep = False
        self._now = now = time.monotonic()
        if readable:
            if self._bell.fileno() in readable:
                self._bell.recv(4096)
            if readable - {self._bell.fileno()}:
                self._events += self._crew.hear(now)
        if peer_gone:
            self._crew.peer_gone(now)
        self._take_messages()
        self._take_posts()
        if self._over:
            return
        self._take_garbage()
        self._events += self._crew.check_time(now)
        deadline = self._schedule.next_deadline
        if deadline is not None and deadline <= now:
            self._events.append(protocol.Tick(now))
        while self._events:
            events, self._events = self._events, []
            for instruction in self._schedule.handle(events):
                self._perform(instruction)
            while self._news:  # only now: whoever waits for a result can wait until the ranks have work again
                self._tell(*self._news.popleft())
            self._forget_released()
        if not self._up.is_set() and self._crew.fleet.phase in (Phase.STEADY, Phase.OVER):
            self._up.set()
        if self._num_open == 0:
            self._tell_idle_waiters()
        self._log.flush_when_due(now)

    def _tell(self, future: Future, trouble: Trouble | None) -> None:
        if trouble is None:
            future.fulfil()
        else:
            future.fail(trouble)
        self._untold.pop(future.id, None)

    def _tell_idle_waiters(self) -> None:
        while self._idle_waiters:
            self._idle_waiters.pop().set()

    def _until_next_deadline(self) -> float | None:
        deadlines = (self._schedule.next_deadline, self._crew.next_deadline(), self._log.due_at)
        next_deadline = min((time for time in deadlines if time is not None), default=None)
        return None if next_deadline is None else max(0.0, next_deadline - time.monotonic())

    def _take_messages(self) -> None:
        for _ in range(_MOST_MESSAGES_A_TURN):
            message = self._server.receive()
            if message is None:
                return
            try:
                kind, fields = wire.read(message[1:])
            except wire.NotUnderstood as error:
                self._crew.distrust(message[0], str(error))
                continue
            if kind is Kind.ENDED:
                self._ended(message[0], fields, message[2] if fields[4] is None else receive(fields[4]))
            elif kind is Kind.HELLO:
                self._events += self._crew.hello(self._now, message[0], fields)
            elif kind is Kind.READY:
                self._events += self._crew.ready(self._now, message[0], fields)

    def _take_posts(self) -> None:
        for _ in range(len(self._inbox)):
            try:
                action = self._inbox.popleft()
            except IndexError:  # once the pilot has ended several threads may come here
                return
            action()

    def _take_garbage(self) -> None:
        while self._garbage:
            number = self._garbage.popleft()
            self._troubles.pop(number, None)
            if number in self._tasks:
                self._released.add(number)
            self._events.append(protocol.ReleaseAsked(self._now, number))

    def _forget_released(self) -> None:
        """Kept tasks whose value nobody wants any more, once no task that was submitted for it needs it."""
        for number in [number for number in self._released if not self._schedule.remembers(number)]:
            self._released.discard(number)
            self._tasks.pop(number, None)

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # it has been woken more than often enough, or is no more
            self._button.send(b"!")

    # What comes in ---------------------------------------------------------------------------------------------------

    def _submit(self, record: TaskRecord) -> None:
        task = record.task
        assert record.future is not None
        if self._over:
            self._untold.pop(task.id, None)
            record.future.fail(Known(self.failure or PilotClosed("the pilot has ended")))
            return
        self._tasks[task.id] = record
        self._num_open += 1
        state = State.WAITING if task.after else State.QUEUED
        record.future.enter(state)
        self.record(self._now, "task", task.id, state, {"name": task.name, "ranks": task.need.ranks})
        self._events.append(protocol.Submitted(self._now, task))

    def _ended(self, peer: bytes, fields: tuple[Any, ...], payload: bytes | Parcel) -> None:
        task, attempt, rank, outcome = fields[:4]
        member = self._crew.sender(peer, rank)
        if member is None or member.busy != (task, attempt):
            return  # a word of a former world, of a rank that was given up, or of what nobody has asked it to do
        failure = None
        if outcome == protocol.Outcome.RAISED:
            try:
                failure = Failure(payload)
            except Exception as error:
                self._crew.distrust(peer, f"an exception that is none: {type(error).__name__}")
                return
        member.busy = member.busy_in = None
        record = self._tasks.get(task)
        if record is not None and record.attempt == attempt:
            if outcome == protocol.Outcome.RETURNED:
                record.parts[rank] = payload
            else:
                self._teams.disband(record.team)
                if failure is not None:
                    record.failures[rank, attempt] = failure
        self._events.append(protocol.RankEnded(self._now, task, attempt, rank, protocol.Outcome(outcome)))

    # What is to be done ----------------------------------------------------------------------------------------------

    def _perform(self, instruction: protocol.Instruction) -> None:
        match instruction:
            case protocol.Queued(task):
                self._queued(self._tasks[task])
            case protocol.Start(task, attempt, slots):
                self._start_attempt(self._tasks[task], attempt, slots)
            case protocol.Finish(task, state, cause):
                self._finish(self._tasks[task], state, cause)
            case protocol.Stop(task, attempt, ranks):
                frame = wire.encode(Kind.STOP, task, attempt)
                for rank in ranks:
                    self._crew.order(rank, frame)
            case protocol.Replace(rank):
                self._crew.kill(rank)
            case protocol.Drop(task, ranks):
                frame = wire.encode(Kind.DROP, task)
                for rank in ranks:
                    self._crew.give(rank, frame)

    def _queued(self, record: TaskRecord) -> None:
        if record.future is not None:
            record.future.enter(State.QUEUED)
        self.record(self._now, "task", record.task.id, State.QUEUED, {})

    def _start_attempt(self, record: TaskRecord, attempt: int, slots: Slots) -> None:
        task = record.task
        record.slots = slots
        record.attempt = attempt
        record.parts = {}
        if record.future is not None:
            record.future.enter(State.RUNNING)
        self.record(
            self._now, "task", task.id, State.RUNNING, {"name": task.name, "attempt": attempt, "ranks": slots.ranks}
        )
        sent = [(one.id, one.part(0)) for one in record.call.inputs if not one.kept]
        boxed = tuple((number, part.box) for number, part in sent if isinstance(part, Parcel))
        inputs = tuple(number for number, part in sent if isinstance(part, bytes))
        values = [part for _, part in sent if isinstance(part, bytes)]
        members = self._crew.members
        hosts = tuple(members[rank].node for rank in slots.ranks)
        team = 0
        if record.wants_comm and len(slots.ranks) > 1:
            record.team = tuple(members[rank].serial for rank in slots.ranks)
            team = self._teams.number(record.team)
        gpus = self._schedule.gpu_names(slots)
        for position, rank in enumerate(slots.ranks):
            message = StartMessage(
                task=task.id,
                attempt=attempt,
                name=task.name,
                position=position,
                ranks=slots.ranks,
                hosts=hosts,
                gpus=gpus,
                cores=slots.cores,
                nbytes=task.need.nbytes_per_rank,
                epoch=self._crew.epoch,
                team=team,
                oldest_team=self._teams.oldest,
                wants_comm=record.wants_comm,
                keep=task.keep,
                kept_inputs=task.on,
                boxed_inputs=boxed,
                inputs=inputs,
                function=label(record.call.function),
                arguments=label(record.call.arguments),
            )
            members[rank].busy = (task.id, attempt)
            members[rank].busy_in = self._crew.epoch if record.team else None
            if not self._crew.give(rank, wire.encode(Kind.START, *message), *values):
                self._crew.suspect(rank, self._now)

    def _finish(self, record: TaskRecord, state: State, cause: protocol.Cause | None) -> None:
        number, future = record.task.id, record.future
        assert future is not None
        fields: dict[str, object] = {}
        trouble: Trouble | None = None
        if state is State.DONE:
            parts = () if record.task.keep else [record.parts[rank] for rank in record.slots.ranks]
            future.accept(parts)
        elif state is State.FAILED:
            trouble = trouble_of(
                cause, record.label, record.failures, self._crew.members.get, self._troubles.get, self._folder
            )
            self._troubles[number] = trouble
            fields["error"] = trouble.said[:500]
        if state is State.CANCELLED:
            future.enter(State.CANCELLED)
            self._untold.pop(number, None)
        else:
            self._news.append((future, trouble))
        record.future = None
        record.parts = {}
        self._num_open -= 1
        if state is not State.DONE or not record.task.keep:
            del self._tasks[number]
        self.record(self._now, "task", number, state, fields)

    def _close(self, error: PilotClosed) -> None:
        if self._over:
            return
        self._over = True
        self._tell_all(error)
        self._tasks.clear()
        members = [self._crew.members[rank] for rank in self._crew.fleet.live]
        gently = self._crew.fleet.phase is Phase.STEADY and self._crew.epoch == 0 and not any(m.busy for m in members)
        self._crew.close(gently)
        self.record(time.monotonic(), "run", 0, "ended", {})
