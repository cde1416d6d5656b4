"""Runs whose phases change, made up from a seed: what a memory manager is taught on, and what it is judged on.

A family says which objects each window passes over, and how often; what that costs is the same for all families: sizes
and seconds per byte are heavy-tailed, a move costs about as much as touching the bytes once while they are slow. The
families of `TAUGHT`, of `HELD_OUT` and of `UNSEEN` have no generator in common. Everything here is modelled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argosy.memory.costs import Costs
from argosy.memory.learning.families import HELD_OUT, TAUGHT, UNSEEN
from argosy.memory.moves import Moves

SLOW_SECONDS_PER_BYTE = 1 / 2e9


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One run under one capacity."""

    family: str
    seed: int
    costs: Costs
    """One window for each occurrence."""
    moves: Moves
    capacity: int


def case(family: str, seed: int, *, windows: int | None = None, objects: int | None = None) -> Case:
    """The case of this family and seed; the same one each time."""
    families = {**TAUGHT, **HELD_OUT, **UNSEEN}
    if family not in families:
        raise ValueError(f"there is no family {family!r}; there are: {', '.join(families)}")
    rng = np.random.default_rng([seed, sum(map(ord, family))])
    num_windows = int(rng.integers(100, 240)) if windows is None else windows
    num_objects = int(rng.integers(6, 21)) if objects is None else objects
    passes, names = families[family](rng, num_windows, num_objects)
    if rng.random() < 0.3:
        names = ["step"] * num_windows
    sizes = np.clip(rng.lognormal(np.log(64e6), 1.0, num_objects), 1e6, 2e9).astype(np.int64)
    if family == "v_cycle":
        sizes = np.sort(sizes)[::-1]
    dearness = rng.lognormal(0.0, 0.5, num_objects)
    touched = passes * sizes
    slow = touched * dearness * SLOW_SECONDS_PER_BYTE
    base = touched.sum(axis=1) * SLOW_SECONDS_PER_BYTE / rng.uniform(2.0, 10.0)
    base += rng.uniform(0.0, 0.3) * slow.sum(axis=1).mean()
    largest = int(sizes.max())
    capacity = max(int(rng.uniform(0.25, 0.75) * sizes.sum()), largest)
    return Case(
        family=family,
        seed=seed,
        costs=Costs(
            objects=tuple(f"object {i}" for i in range(num_objects)),
            sizes=tuple(int(size) for size in sizes),
            windows=tuple(names),
            order=tuple(range(num_windows)),
            floor=np.full(num_windows, -np.inf),
            base=base,
            slow=slow,
        ),
        moves=Moves(
            fetch_seconds_per_byte=SLOW_SECONDS_PER_BYTE * rng.uniform(0.5, 1.5),
            evict_seconds_per_byte=SLOW_SECONDS_PER_BYTE * rng.uniform(0.2, 1.5),
        ),
        capacity=capacity,
    )
