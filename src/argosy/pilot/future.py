"""The handle of a task: a `concurrent.futures.Future` that knows about ranks."""

from __future__ import annotations

import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from argosy import arguments
from argosy.pilot.shelf import Parcel
from argosy.pilot.task import State

_SLICE_SECONDS = 0.2


class Owner(Protocol):
    """What a Future asks of the pilot it belongs to."""

    def cancel(self, future: Future) -> None: ...

    def release(self, future: Future) -> None: ...

    def fetch(self, future: Future, every_rank: bool) -> Future: ...

    def tell(self, callback: Callable[[Future], Any], future: Future) -> None: ...


class Trouble(Protocol):
    """Why it did not end well, as an exception for whoever asks."""

    def open(self) -> BaseException: ...


class _Unopened(Exception):
    """Stands for the exception until somebody asks for it."""

    def __init__(self, trouble: Trouble) -> None:
        self.trouble = trouble


class Future(concurrent.futures.Future[Any]):
    """What will have become of a task.

    `result()` is what rank 0 returned, `results()` what every rank returned. With `keep=True` the values lie on their
    ranks and travel here only when one of the two is called. The standard library's own state stays *pending* until the
    task ends, so that a running task can still be cancelled.
    """

    __argosy_value__ = True
    __argosy_pure__: frozenset[str] = frozenset()

    def __init__(
        self, owner: Owner, task: int, name: str, num_ranks: int, keep: bool, decode: Callable[[bytes | Parcel], Any]
    ) -> None:
        super().__init__()
        self.id = task
        self.name = name
        self.num_ranks = num_ranks
        self.kept = keep
        self._owner = owner
        self._decode = decode
        self._task_state = State.WAITING
        self._parts: Sequence[bytes | Parcel] = ()
        self._values: dict[int, Any] = {}
        self._lock = threading.RLock()
        self._cancel_asked = False

    @property
    def owner(self) -> Owner:
        """The pilot it belongs to."""
        return self._owner

    @property
    def state(self) -> State:
        return State.CANCELLED if self.cancelled() else self._task_state

    def running(self) -> bool:
        return self.state is State.RUNNING

    def result(self, timeout: float | None = None) -> Any:
        """What rank 0 returned. Raises what the task raised, or says what became of it."""
        self._wait(timeout)
        if self.kept:
            return self._owner.fetch(self, every_rank=False).result(timeout)
        return self._value(0)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """What the task raised, once it has ended; None when it ended well."""
        error = self._awaited(_seconds(timeout))
        return error.trouble.open() if isinstance(error, _Unopened) else error

    def _awaited(self, timeout: float | None) -> BaseException | None:
        """The main thread sleeps in slices: Ctrl-C that comes just before it sleeps is heard when it wakes."""
        if timeout is not None or threading.current_thread() is not threading.main_thread():
            return super().exception(timeout)
        while not self.done():
            with contextlib.suppress(TimeoutError):
                return super().exception(_SLICE_SECONDS)
        return super().exception()

    def add_done_callback(self, fn: Callable[[Future], Any]) -> None:
        """Have `fn` called with this Future once the task has ended.

        In a thread that the pilot has for callbacks, one after another: it may wait, submit, or take its time. If the
        task has ended, or is cancelled, in the thread that finds it so. What it raises is logged.
        """
        super().add_done_callback(partial(self._owner.tell, arguments.function("fn", fn, "a function of the Future")))

    def results(self, timeout: float | None = None) -> list[Any]:
        """What every rank returned, in the order of the ranks."""
        self._wait(timeout)
        if self.kept:
            return self._owner.fetch(self, every_rank=True).results(timeout)
        return [self._value(index) for index in range(len(self._parts))]

    def cancel(self) -> bool:
        """Also stops a task that runs: its ranks leave it, or are replaced. False when it had already ended.

        May be called again, and by several threads.
        """
        if not super().cancel():
            return False
        with self._lock:
            first, self._cancel_asked = not self._cancel_asked, True
        if first:
            self.set_running_or_notify_cancel()
            self._owner.cancel(self)
        return True

    def release(self) -> None:
        """Free the kept value on its ranks. Dropping the last reference to this Future does the same."""
        self._owner.release(self)

    def part(self, index: int) -> bytes | Parcel:
        """The value of one rank as it travelled; for tasks that take it as an argument."""
        return self._parts[index]

    def enter(self, state: State) -> None:
        """For the controller: the task is now in this state."""
        self._task_state = state

    def accept(self, parts: Sequence[bytes | Parcel]) -> None:
        """For the controller: the task is done; one packed value for each rank, none when it was kept."""
        self._parts = parts
        self._task_state = State.DONE

    def fulfil(self) -> None:
        """For the controller: let whoever waits know that the task is done."""
        with contextlib.suppress(concurrent.futures.InvalidStateError):  # it was cancelled meanwhile
            self.set_result(None)

    def fail(self, trouble: Trouble) -> None:
        """For the controller: the task ended badly."""
        self._task_state = State.FAILED
        with contextlib.suppress(concurrent.futures.InvalidStateError):  # it was cancelled meanwhile
            self.set_exception(_Unopened(trouble))

    def abandon(self, trouble: Trouble) -> None:
        """In the child of a fork, whose only thread this is: nobody will end it here. The parent's does not change."""
        self._condition = threading.Condition()  # another thread may have held them when the process was forked
        self._lock = threading.RLock()
        self._done_callbacks: list[Callable[[Future], Any]] = []
        self.fail(trouble)

    def _wait(self, timeout: float | None) -> None:
        error = self.exception(timeout)
        try:
            if error is not None:
                raise error
        finally:
            error = None  # its traceback leads to this frame

    def _value(self, index: int) -> Any:
        with self._lock:
            if index not in self._values:
                self._values[index] = self._decode(self._parts[index])
            return self._values[index]

    def __del__(self) -> None:
        owner = getattr(self, "_owner", None)
        if owner is not None:
            owner.release(self)

    def __repr__(self) -> str:
        return f"<argosy.Future {self.id} {self.name!r} {self.state}>"


def _seconds(timeout: Any) -> float | None:
    """How long to wait, as the standard library takes it: None where nobody would live to see the end."""
    if timeout is None:
        return None
    seconds = arguments.number("timeout", timeout, infinite=True, wanted="a number of seconds")
    return seconds if seconds < threading.TIMEOUT_MAX else None
