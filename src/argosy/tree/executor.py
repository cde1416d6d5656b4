"""What the tree knows of whoever runs tasks: a protocol, how the present one is found, and threads that wait for it.

This file alone knows that it is a pilot.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from typing import Any, Protocol

from argosy.calls import Call

_MOST_THREADS = 1024
"""That wait at the same time; more calls than that go one after another."""


class Handle(Protocol):
    """What will have become of a task."""

    def result(self) -> Any: ...

    def exception(self) -> BaseException | None: ...

    def cancel(self) -> bool: ...


class Executor(Protocol):
    """Runs functions on ranks. Any thread may submit."""

    def submit(
        self,
        fn: Callable[..., Any],
        /,
        *args: Any,
        ranks: int | None = None,
        gpus: float = 0,
        cores: int = 1,
        memory: str | int | None = None,
        timeout: float | None = None,
        retries: int = 0,
        priority: int = 0,
        name: str | None = None,
        keep: bool = False,
        **kwargs: Any,
    ) -> Handle: ...


class Scope(Protocol):
    """Tasks that end together."""

    def collecting(self) -> AbstractContextManager[None]:
        """What is submitted inside belongs to it, on whose behalf ever."""

    def cancel(self) -> None:
        """End all of them, and what would still be submitted."""


def current_executor() -> Executor | None:
    """The one that is open now. May be asked from any thread."""
    from argosy.pilot.current import current_pilot

    return current_pilot()


def _scope() -> Scope:
    from argosy.pilot.together import Together

    return Together()


def goes_apart(call: Call, keywords: Collection[str]) -> bool:
    """Whether a call that gives these keywords is work of the ranks that nobody can see, so that Python may go on.

    Where nothing is open a call that would wait does its work here, with the user's own functions: it has its turn.
    """
    return call.waits and call.is_pure_with(keywords) and current_executor() is not None


class Errands:
    """Calls that wait for the executor, each in a thread of its own, so that no thread that computes is held up.

    Whoever starts one calls `close` in the end, after `cancel` if nobody wants the rest any more.
    """

    def __init__(self) -> None:
        self._scope = _scope()
        self._threads = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="argosy-errand")

    def start(self, work: Callable[[], None]) -> None:
        """Do this soon, in another thread and a copy of the caller's context. It must not raise."""
        self._threads.submit(copy_context().run, self._do, work)

    def cancel(self) -> None:
        """End the tasks that they wait for: in each of them the call raises `CancelledError`."""
        self._scope.cancel()

    def close(self) -> None:
        """Returns when all have ended."""
        self._threads.shutdown(wait=True)

    def _do(self, work: Callable[[], None]) -> None:
        with self._scope.collecting():
            work()
