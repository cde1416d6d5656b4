"""Something that can be run again and again over the objects of a store."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from argosy import arguments
from argosy.errors import BadTrace, UnknownObject
from argosy.memory.store import Store
from argosy.memory.tiers.tier import Tier
from argosy.memory.trace import Trace, Window
from argosy.memory.values import Value

BETWEEN = "(between windows)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """A program whose placement is to be found. Each run must do the same work, so it sets its own state first."""

    name: str
    objects: Callable[[], Mapping[str, Value | Callable[[], Value]]]
    """Makes the first value of each object; or gives functions that do, which are called one after the other, so that
    never all values are in main memory at once."""
    run: Callable[[Store], Any]
    """One whole run; its windows are marked by `with store.window(...)`."""

    def __post_init__(self) -> None:
        arguments.text("name", self.name)
        arguments.function("objects", self.objects, "a function that makes the objects, by name")
        arguments.function("run", self.run, "a function of a store")

    def store(
        self, *, fast: Tier | None = None, slow: Tier | None = None, placement: Mapping[str, str] | None = None
    ) -> Store:
        """A new store with its objects where the placement has them: in the fast tier, what it does not name."""
        placed = (
            {} if placement is None else arguments.mapping("placement", placement, "a dictionary of tiers by object")
        )
        store = Store(fast=fast, slow=slow, program=self.name)
        try:
            objects = arguments.mapping("what objects() makes", self.objects(), "a dictionary of values by name")
            if unknown := [name for name in placed if name not in objects]:
                raise UnknownObject(arguments.text("a name in placement", unknown[0]), tuple(objects))
            for name, value in objects.items():
                store.put(name, value() if callable(value) else value, tier=placed.get(name, store.fast.name))
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
