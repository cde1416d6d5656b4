"""Something that can be run again and again over the objects of a store."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from argosy.errors import BadTrace
from argosy.memory.store import Store
from argosy.memory.tiers.tier import Tier
from argosy.memory.trace import Trace, Window
from argosy.memory.values import Value

BETWEEN = "(between windows)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """A program whose placement is to be found. Each run must do the same work, so it sets its own state first."""

    name: str
    objects: Callable[[], Mapping[str, Value]]
    """Makes the first value of each object."""
    run: Callable[[Store], Any]
    """One whole run; its windows are marked by `with store.window(...)`."""

    def store(self, *, fast: Tier | None = None, slow: Tier | None = None) -> Store:
        """A new store with all its objects in the fast tier."""
        store = Store(fast=fast, slow=slow, program=self.name)
        try:
            for name, value in self.objects().items():
                store.put(name, value)
            if not len(store):
                raise ValueError(f"{self.name!r} has no objects, so there is nothing to place")
        except BaseException:
            store.close()
            raise
        return store


def traced(workload: Workload, store: Store) -> Trace:
    """Runs it once under the store's placement. The time between windows is a window of its own, the last one."""
    store.forget()
    began = time.perf_counter()
    workload.run(store)
    seconds = time.perf_counter() - began
    trace = store.trace()
    if not trace.windows:
        raise BadTrace(f"{workload.name!r} ran without a window; run its work inside `with store.window(...)`")
    trace.check()
    between = Window(name=BETWEEN, seconds=max(seconds - trace.seconds, 0.0))
    return Trace(program=trace.program, sizes=trace.sizes, windows=(*trace.windows, between))
