"""A real program whose phases change: passes over arrays of many sizes, in the order of a family of `phases`.

Windows that touch the same objects in the same way have one name, so that a calibration can tell what each costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from argosy.memory.learning.phases import case
from argosy.memory.store import Store
from argosy.memory.workload import Workload


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pass:
    """What a window does to one object."""

    object: str
    share: float
    """Of the object, from its beginning."""
    times: int
    writes: bool


def phased(family: str, seed: int = 0, *, windows: int = 60, objects: int = 10, nbytes: int = 160 << 20) -> Workload:
    """A run returns the sum of what it read. A third of the objects are also written whenever they are touched."""
    shape = case(family, seed, windows=windows, objects=objects)
    sizes = np.sqrt(np.asarray(shape.costs.sizes, dtype=np.float64))
    lengths = np.maximum((sizes / sizes.sum() * nbytes / 8).astype(np.int64), 512)
    rng = np.random.default_rng([seed, 1])
    writes = rng.random(objects) < 1 / 3
    names = [f"array {i}" for i in range(objects)]
    passes = shape.costs.slow / shape.costs.slow.max(axis=0).clip(min=1e-30)
    kinds: dict[tuple[_Pass, ...], str] = {}
    order: list[tuple[str, tuple[_Pass, ...]]] = []
    for row in passes:
        work = tuple(
            _Pass(object=names[i], share=1.0 if part > 0.5 else 0.5, times=2, writes=bool(writes[i]))
            for i, part in enumerate(row)
            if part > 0
        )
        order.append((kinds.setdefault(work, f"kind {len(kinds)}"), work))
    return Workload(
        name=f"phased {family} {seed}",
        objects=lambda: {name: np.full(length, 0.5) for name, length in zip(names, lengths, strict=True)},
        run=lambda store: _run(store, order),
    )


def _run(store: Store, order: list[tuple[str, tuple[_Pass, ...]]]) -> float:
    total = 0.0
    for name, work in order:
        with store.window(name):
            total += sum(_sweep(store, one) for one in work)
    return total


def _sweep(store: Store, one: _Pass) -> float:
    array: NDArray[np.float64] = store.update(one.object) if one.writes else store[one.object]
    part = array[: int(len(array) * one.share)]
    store.count(one.object, bytes_read=part.nbytes, bytes_written=part.nbytes if one.writes else 0)
    total = 0.0
    for _ in range(one.times):
        total += float(part.sum())
    if one.writes:
        np.subtract(1.0, part, out=part)
    return total
