"""What the tree knows of whoever runs tasks: protocols, and how the present one is found.

This file alone knows that it is a pilot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


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
        cores: int | None = None,
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

    def within(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function; what it submits, also in threads with a copy of its context, belongs to the scope."""

    def cancel(self) -> None:
        """End all of them, and what would still be submitted: whoever waits for one gets a `CancelledError`."""


def current_executor() -> Executor | None:
    """The one that is open now. May be asked from any thread."""
    from argosy.pilot.current import current_pilot

    return current_pilot()


def new_scope() -> Scope:
    from argosy.pilot.together import Together

    return Together()
