"""One call of a futurized function: arguments to variables, the walk, the answer or the first exception."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from time import perf_counter
from typing import Any

from argosy.tree.expression import Version
from argosy.tree.flow import Failed, Flow
from argosy.tree.grain import Grain, Ways
from argosy.tree.inside import here
from argosy.tree.learning import learnt
from argosy.tree.pool import pool_of
from argosy.tree.program import Program
from argosy.tree.source import Source
from argosy.tree.walk import Walk
from argosy.tree.watch import Watcher


class Caller:
    """Calls of one function."""

    def __init__(self, source: Source, futurized: Any, grain: float | None, threads: int | None) -> None:
        source.futurized = futurized
        self.program = Program(source)
        self.grain = Grain(grain)
        self.threads = threads
        self.plain: Callable[..., Any] = source.direct
        self._signature = inspect.signature(source.function, follow_wrapped=False)
        self.ways = Ways()

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        plainly = self.ways.is_plain() and not self.grain.always
        started = perf_counter() - learnt()
        result = self.plain(*args, **kwargs) if plainly else self.walk(args, kwargs)
        self.ways.took(plainly, perf_counter() - learnt() - started)
        return result

    def unmeasured(self) -> int:
        return 0 if self.grain.always else self.ways.calls_unmeasured()

    def walk(self, args: tuple[Any, ...], kwargs: dict[str, Any], watcher: Watcher | None = None) -> Any:
        """Never plainly as a whole, so that there is something to watch."""
        bound = _bound(self._signature, args, kwargs)
        if bound is None:
            return self.plain(*args, **kwargs)  # raises, in Python's own words
        bound.apply_defaults()
        self.program.check()
        flow = Flow(
            pool_of(self.threads),
            watcher.ended if watcher is not None else None,
            remembers=watcher is not None,
            tracks=watcher is not None or self.program.writes,
        )
        variables = {name: Version(value) for name, value in bound.arguments.items()}
        walk = Walk(self.program, flow, self.grain, variables, watcher)
        here.walks += 1
        error: BaseException | None = None
        try:
            result = walk.run()
            flow.drain()
        except Failed as failed:
            error = failed.error
        except Exception as raised:  # by the user's own code, run by the walk itself
            error = raised
        except BaseException:
            flow.cancel()
            raise
        finally:
            here.walks -= 1
        if error is None:
            return result.value
        raise _first_error(flow, error)


def _bound(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments | None:
    try:
        return signature.bind(*args, **kwargs)
    except TypeError:
        return None


def _first_error(flow: Flow, raised: BaseException) -> BaseException:
    """What was issued comes before what the walk itself ran."""
    try:
        flow.drain()
    except Failed as failed:
        return failed.error
    return raised
