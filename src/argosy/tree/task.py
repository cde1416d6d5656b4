"""A function whose calls are tasks: `@argosy.task(ranks=4)`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial, update_wrapper
from types import MethodType
from typing import Any, overload

from argosy import arguments
from argosy.calls import Call
from argosy.comm.parameter import COMM, by_keyword, fill
from argosy.errors import PilotError
from argosy.resources import judge
from argosy.tree.executor import Handle, current_executor


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """How a task is submitted, each time."""

    ranks: int | None = None
    gpus: float = 0
    cores: int | None = None
    memory: str | int | None = None
    timeout: float | None = None
    retries: int = 0
    priority: int = 0
    name: str | None = None
    keep: bool = False

    def __post_init__(self) -> None:
        judge(**self.given())

    def given(self) -> dict[str, Any]:
        """By name. Not as `asdict` does it, which copies what it finds before anybody has judged it."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


class Task:
    """A function that runs on the ranks of the open pilot each time it is called.

    A call waits, and returns what rank 0 returned or raises what it raised; `submit` returns the Future at once. Inside
    a futurized function the Python around a call goes on until its value is needed. Arguments travel as copies. Without
    a pilot a task of one rank runs in this process, and so does, on each rank, one that is given its `comm`.
    """

    __argosy_value__ = True
    __argosy_pure__: frozenset[str] = frozenset()

    def __init__(self, fn: Callable[..., Any], options: Options, pure: bool) -> None:
        if not callable(fn):
            raise TypeError(f"argosy.task is put above a function, not above {arguments.show(fn)}")
        update_wrapper(self, fn)
        self.fn = fn
        self.options = options
        self.pure = pure
        name = getattr(fn, "__qualname__", None)
        self.name = name if isinstance(name, str) and name else type(fn).__qualname__
        if (signature := by_keyword(fn)) is not None:
            self.__signature__ = signature
        self.__argosy_call__ = Call(waits=True, pure=pure, shows_with=frozenset({"comm"}))

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if COMM in kwargs:
            return self._call(args, kwargs, kwargs.pop(COMM))
        if current_executor() is None:
            return self._here(args, kwargs)
        handle = self.submit(*args, **kwargs)
        try:
            if not self.options.keep:
                return handle.result()
            error = handle.exception()
        except BaseException:
            handle.cancel()
            raise
        if error is not None:
            raise error
        return handle

    def submit(self, /, *args: Any, **kwargs: Any) -> Handle:
        """The Future of a call. A Future among the arguments is waited for, and its value put in its place."""
        executor = current_executor()
        if executor is None:
            raise self._needs_pilot("is submitted to a pilot")
        options = self.options.given() | {"name": self.options.name or self.name}
        apart = {name: kwargs.pop(name) for name in options if name in kwargs}
        return executor.submit(_Body(self, apart), *args, **options, **kwargs)

    def _here(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if (self.options.ranks or 1) > 1:
            raise self._needs_pilot(f"runs on {self.options.ranks} ranks")
        if self.options.keep:
            raise self._needs_pilot("leaves its value on the ranks of a pilot")
        if not hasattr(self, "__signature__"):
            return self.fn(*args, **kwargs)
        from argosy.comm.mpi import free, own_communicator

        comm = own_communicator()
        try:
            return self._call(args, kwargs, comm)
        finally:
            free(comm)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any], comm: Any) -> Any:
        """In this process, with a communicator of the caller's choice."""
        filled = fill(self.fn, args, kwargs, comm)
        if filled is None:  # it has a parameter for all keywords, perhaps
            return self.fn(*args, **kwargs, comm=comm)
        return filled.fn(*filled.args, **filled.kwargs)

    def _needs_pilot(self, what: str) -> PilotError:
        around = f"with argosy.Pilot(ranks={self.options.ranks or 1})"
        return PilotError(f"the task {self.name} {what}, but no pilot is open; open one around it: {around}")

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """By its name where that leads to it, so that a rank takes it from its module; else as it is."""
        found: Any = sys.modules.get(self.__module__) if self.__module__ != "__main__" else None
        for name in self.name.split("."):
            found = getattr(found, name, None)
        return self.name if found is self else (Task, (self.fn, self.options, self.pure))

    def __repr__(self) -> str:
        return f"<argosy.task {self.name}>"


@dataclass(frozen=True, slots=True, repr=False)
class _Body:
    """The function of a task as it travels, with those arguments whose names `submit` would take for its own."""

    task: Task
    apart: dict[str, Any]

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(partial(self.task.fn, **self.apart))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.task.fn(*args, **self.apart, **kwargs)

    def __repr__(self) -> str:
        return self.task.name


@overload
def task(fn: Callable[..., Any], /) -> Task: ...


@overload
def task(
    *,
    ranks: int | None = None,
    gpus: float = 0,
    cores: int | None = None,
    memory: str | int | None = None,
    timeout: float | None = None,
    retries: int = 0,
    priority: int = 0,
    name: str | None = None,
    keep: bool = False,
    pure: bool = True,
) -> Callable[[Callable[..., Any]], Task]: ...


def task(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    ranks: int | None = None,
    gpus: float = 0,
    cores: int | None = None,
    memory: str | int | None = None,
    timeout: float | None = None,
    retries: int = 0,
    priority: int = 0,
    name: str | None = None,
    keep: bool = False,
    pure: bool = True,
) -> Task | Callable[[Callable[..., Any]], Task]:
    """Calls of this function are tasks: on so many ranks, each with its own `gpus`, `cores` and `memory`.

    `ranks`: one unless told, or as many as hold the kept value that the call is given. `keep` leaves each rank's value
    on its rank: a call returns its Future, which other tasks take. `timeout` (seconds), `retries`, `priority` and
    `name` are those of `Pilot.submit`. `pure=False`: others can see that it ran, by files that it writes, say; then a
    futurized function does nothing else meanwhile.
    """
    options = Options(
        ranks=ranks,
        gpus=gpus,
        cores=cores,
        memory=memory,
        timeout=timeout,
        retries=retries,
        priority=priority,
        name=name,
        keep=keep,
    )
    arguments.flag("pure", pure)
    return (lambda function: Task(function, options, pure)) if fn is None else Task(fn, options, pure)
