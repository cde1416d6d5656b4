"""`@argosy.futurize`: a function whose calls run as a tree of futures, with the answer of plain Python."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, cast

from argosy import arguments
from argosy.errors import CannotFuturize
from argosy.tree.inside import here
from argosy.tree.source import NotCaptured, capture

if TYPE_CHECKING:
    from argosy.tree.explaining.explanation import Explanation
    from argosy.tree.explaining.profile import Profile
    from argosy.tree.explaining.watched import Watched

_MOST_THREADS = 10_000
_MOST_WALKS = 4
"""Futurized functions that call one another are walked so deep, then run plainly."""


class Futurized:
    """A function and what was learnt of it. Called, it gives what the plain function gives."""

    __argosy_plain__ = True

    def __init__(self, function: Any, *, strict: bool, grain: float | None, threads: int | None) -> None:
        if isinstance(function, classmethod):
            raise TypeError("put @classmethod above @argosy.futurize, not below it")
        self._is_static = isinstance(function, staticmethod)
        function = function.__func__ if self._is_static else function
        if not callable(function):
            raise TypeError(f"futurize takes a function, not {arguments.show(function)}")
        function = function.plain if isinstance(function, Futurized) else function
        functools.update_wrapper(self, function)
        self.plain: Any = function
        self.reason: NotCaptured | None = None
        """Why calls run plainly as a whole, if they do."""
        self._strict = strict = arguments.flag("strict", strict)
        self._grain = _checked_grain(grain)
        self._threads = _checked_threads(threads)
        self._caller: Any = None
        self._unmeasured = 0
        """So many of the next calls go plainly at once."""
        self._watched: Any = None
        try:
            self._source = capture(function)
            import argosy.tree.calling  # noqa: F401  # here, so that the first call does not wait for it
        except NotCaptured as reason:
            if strict:
                where = f" (line {reason.line})" if reason.line else ""
                raise CannotFuturize(
                    f"{getattr(function, '__name__', function)} cannot be futurized{where}: {reason.reason}; "
                    "without strict=True it runs as plain Python"
                ) from None
            self.reason = NotCaptured(reason.reason, reason.line)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self._unmeasured > 0:
            self._unmeasured -= 1
            return self._caller.plain(*args, **kwargs)
        if self.reason is not None or here.expression or here.walks >= _MOST_WALKS:
            return self.plain(*args, **kwargs)
        return self._walked(args, kwargs)

    def _walked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._caller is None:
            self._make_caller()
        result = self._caller.call(args, kwargs)
        self._unmeasured = self._caller.unmeasured()
        return result

    def _make_caller(self) -> None:
        from argosy.tree.calling import Caller

        self._caller = Caller(self._source, self, self._grain, self._threads)

    def submit(self, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run it in a thread of its own."""
        future: Future[Any] = Future()
        context = copy_context()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(context.run(self, *args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        name = getattr(self.plain, "__name__", "call")
        threading.Thread(target=run, name=f"argosy-{name}", daemon=True).start()
        return future

    def explain(self, /, *args: Any, **kwargs: Any) -> Explanation:
        """Call it once with these arguments, and print what ran where, what waited for what, and why.

        What is printed is returned; it is also a graph (`.dot`) and a trace for Perfetto (`.write_trace(path)`).
        """
        return self._watch().explain(args, kwargs)

    @property
    def profile(self) -> Profile:
        """Count, seconds and bytes of each line, and the critical path: of the call that was last explained or given to
        `profile.of(...)`; before that, count and seconds of all calls so far."""
        return self._watch().profile()

    def _watch(self) -> Watched:
        if self._watched is None:
            from argosy.tree.explaining.watched import Watched

            if self.reason is None and self._caller is None:
                self._make_caller()
            self._watched = Watched(self.plain, self._caller, self.reason)
        return cast("Watched", self._watched)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None or self._is_static else self._bound(instance)

    def _bound(self, instance: Any) -> Method:
        return Method(self, instance)

    def __repr__(self) -> str:
        return f"<futurized {getattr(self.plain, '__qualname__', self.plain)}>"

    def __reduce__(self) -> Any:
        """By its name where it can be imported by it, else as the plain function and how it was decorated."""
        module, name = getattr(self.plain, "__module__", None), getattr(self.plain, "__qualname__", "")
        found: Any = sys.modules.get(module or "")
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is self and module != "__main__":
            return name
        return _decorated, (self.plain, self._strict, self._grain, self._threads)


class Method:
    """A futurized function bound to an object, as methods are."""

    def __init__(self, function: Futurized, instance: Any) -> None:
        functools.update_wrapper(self, function)
        del self.__wrapped__  # type: ignore[attr-defined]  # it takes one argument more
        self.__func__ = function
        self.__self__ = instance
        self.plain = functools.partial(function.plain, instance)

    @property
    def __signature__(self) -> inspect.Signature:
        signature = inspect.signature(self.__func__.plain)
        return signature.replace(parameters=list(signature.parameters.values())[1:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Method) and other.__func__ is self.__func__ and other.__self__ is self.__self__

    def __hash__(self) -> int:
        return hash((id(self.__self__), id(self.__func__)))

    def __reduce__(self) -> Any:
        return getattr, (self.__self__, self.__func__.plain.__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        return self.__func__.submit(self.__self__, *args, **kwargs)

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        return self.__func__.explain(self.__self__, *args, **kwargs)

    @property
    def profile(self) -> Profile:
        return self.__func__.profile

    def __repr__(self) -> str:
        return f"<bound {self.__func__!r} of {self.__self__!r}>"


class Plainly(functools.partial[Any], Futurized):
    """A function whose calls run plainly as a whole: they have no frame of ours, so that it may ask who called."""

    def __new__(cls, made: Futurized) -> Plainly:
        return super().__new__(cls, made.plain)

    def __init__(self, made: Futurized) -> None:
        vars(self).update(vars(made))

    __get__ = Futurized.__get__
    __repr__ = Futurized.__repr__
    __reduce__ = Futurized.__reduce__

    def _bound(self, instance: Any) -> Method:
        return PlainMethod(self.plain, instance, own=self)


class PlainMethod(functools.partial[Any], Method):
    """It bound to an object."""

    def __init__(self, plain: Any, instance: Any, *, own: Futurized) -> None:  # noqa: ARG002
        Method.__init__(self, own, instance)

    def __new__(cls, plain: Any, instance: Any, *, own: Futurized) -> PlainMethod:  # noqa: ARG004
        return super().__new__(cls, plain, instance)

    __eq__ = Method.__eq__
    __hash__ = Method.__hash__
    __repr__ = Method.__repr__
    __reduce__ = Method.__reduce__


def _decorated(function: Any, strict: bool, grain: float | None, threads: int | None) -> Futurized:
    made = Futurized(function, strict=strict, grain=grain, threads=threads)
    return made if made.reason is None else Plainly(made)


def _checked_grain(grain: Any) -> float | None:
    wanted = "a number of seconds, 0 or more, or None for as measured"
    return None if grain is None else arguments.number("grain", grain, least=0, infinite=True, wanted=wanted)


def _checked_threads(threads: Any) -> int | None:
    wanted = "a whole number from 1 on, the calling one included, or None"
    return None if threads is None else arguments.whole("threads", threads, least=1, most=_MOST_THREADS, wanted=wanted)


def futurize(
    function: Callable[..., Any] | None = None, *, strict: bool = False, grain: float | None = None,
    threads: int | None = None,
) -> Any:  # fmt: skip
    """Run the statements and loop iterations of a function that do not depend on one another at the same time.

    The answer, the order of what can be seen, and the first exception are those of plain Python. `strict` raises
    CannotFuturize for a function that would run plainly as a whole. `grain` is in seconds: what is expected to take
    less runs in place (default: as measured; 0: nothing does). `threads` counts the calling one (default: the cores).
    """
    arguments.flag("strict", strict), _checked_grain(grain), _checked_threads(threads)
    if function is None:
        return functools.partial(_decorated, strict=strict, grain=grain, threads=threads)
    return _decorated(function, strict, grain, threads)
