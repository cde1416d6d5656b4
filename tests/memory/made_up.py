"""Measurements made from known costs, so that a law can be held against the truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.memory.costs import Costs
from argosy.memory.measuring import Measurements
from argosy.memory.placement import Slow
from argosy.memory.workload import BETWEEN


def costs_of(
    num_objects: int, num_windows: int, seed: int, *, per_byte: bool = False, floors: bool = False
) -> tuple[Costs, NDArray[np.float64]]:
    """Random costs, and the bytes that each window moves of each object; `per_byte`: every byte costs the same."""
    rng = np.random.default_rng(seed)
    moved = rng.integers(1, 100, (num_windows, num_objects)) * (rng.random((num_windows, num_objects)) < 0.7) * 1000.0
    moved[0] = np.maximum(moved[0], 1000.0)
    slow = moved * (1e-6 if per_byte else rng.uniform(0.2e-6, 5e-6, (num_windows, num_objects)))
    base = rng.uniform(0.05, 0.2, num_windows)
    floor = base + slow.sum(axis=1) * rng.uniform(0, 0.6, num_windows) if floors else np.full(num_windows, -np.inf)
    costs = Costs(
        objects=tuple(f"o{i}" for i in range(num_objects)),
        sizes=tuple(int(size) for size in rng.integers(1, 50, num_objects) * 1000),
        windows=(*(f"w{i}" for i in range(num_windows)), BETWEEN),
        order=(*range(num_windows), num_windows),
        floor=np.append(floor, -np.inf),
        base=np.append(base, 0.01),
        slow=np.vstack([slow, np.zeros(num_objects)]),
    )
    return costs, np.vstack([moved, np.zeros(num_objects)])


def measured_from(
    costs: Costs, moved: NDArray[np.float64], rows: Slow, *, noise: float = 0.0, repeats: int = 1, seed: int = 0
) -> Measurements:
    """What a machine with these costs would show."""
    rng = np.random.default_rng(seed)
    exact = costs.per_window(rows)[:, None, :].repeat(repeats, axis=1)
    return Measurements(
        program="made up",
        objects=costs.objects,
        sizes=costs.sizes,
        windows=costs.windows,
        order=costs.order,
        rows=rows,
        seconds=exact * np.exp(rng.normal(0, noise, exact.shape)),
        moved=moved,
    )
