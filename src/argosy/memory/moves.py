"""What it costs to move an object from one tier to the other."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argosy import arguments

if TYPE_CHECKING:
    from argosy.memory.store import Store

DEFAULT_NBYTES = 16 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Moves:
    """Seconds of moving, in proportion to the bytes: what a plan with migration pays for a change of placement."""

    fetch_seconds_per_byte: float
    """From the slow tier to the fast one."""
    evict_seconds_per_byte: float
    """From the fast tier to the slow one."""

    def __post_init__(self) -> None:
        for name in ("fetch_seconds_per_byte", "evict_seconds_per_byte"):
            arguments.settle(self, **{name: arguments.number(name, getattr(self, name), least=0)})

    def seconds(self, fetched_nbytes: float, evicted_nbytes: float) -> float:
        return self.fetch_seconds_per_byte * fetched_nbytes + self.evict_seconds_per_byte * evicted_nbytes


def measure_moves(store: Store, nbytes: int = DEFAULT_NBYTES, repeats: int = 5) -> Moves:
    """Time real moves of one object of `nbytes` between the store's two tiers, there and back: medians of `repeats`.

    The object is put into the store for this and freed again; the others stay where they are. The fast tier must have
    room for `nbytes`. One round before the first that counts pays for what only happens once.
    """
    name = "argosy.measure_moves"
    fast, slow = store.fast.name, store.slow.name
    store.put(name, np.ones(max(nbytes // 8, 1)), tier=slow)
    fetches: list[float] = []
    evictions: list[float] = []
    try:
        for _ in range(repeats + 1):
            fetches.append(_timed(store, {name: fast}))
            evictions.append(_timed(store, {name: slow}))
        moved = store.sizes[name]
    finally:
        store.free(name)
    return Moves(
        fetch_seconds_per_byte=statistics.median(fetches[1:]) / moved,
        evict_seconds_per_byte=statistics.median(evictions[1:]) / moved,
    )


def _timed(store: Store, placement: dict[str, str]) -> float:
    begin = time.perf_counter()
    store.place(placement)
    return time.perf_counter() - begin
