"""Conjugate gradients for heat that flows between the cells of a box.

One step of time of a body whose conductivity differs from cell to cell and by direction. With g the harmonic mean of
the two conductivities on either side of a face,

    (A x)[c] = capacity[c] x[c] + sum over the six neighbours n of g[c, n] (x[c] - x[n]),

no flow through the walls, and x = 0 in cells that are held cold. The preconditioner is the inverse of A's diagonal;
vectors are in single precision. The conductivities are read once an iteration and never written, `b` is read twice a
run, the four vectors of the method are read and written at different rates.
"""

from __future__ import annotations

import numpy as np

from argosy.memory.miniapps.compiled import Array, compiled
from argosy.memory.store import Store
from argosy.memory.workload import Workload

ITERATIONS = 2
NBYTES_PER_CELL = 61
"""capacity 8, sides 16, up 8, inverse 4, cold 1, b 8, and four vectors of 4."""


def make(nbytes: int, iterations: int) -> Workload:
    """Returns, from each run, the square of the last residual and the sum of the solution."""
    edge = max(round((nbytes / NBYTES_PER_CELL) ** (1 / 3)), 4)
    layers = max(round(nbytes / NBYTES_PER_CELL / edge**2), 4)
    return Workload(
        name="cg",
        objects=lambda: _objects((layers, edge, edge)),
        run=lambda store: _run(store, iterations),
    )


def _objects(shape: tuple[int, int, int]) -> dict[str, Array]:
    random = np.random.default_rng(7)
    capacity = random.random(shape) + 0.5
    sides = random.random((2, *shape)) + 0.1
    up = random.random(shape) + 0.1
    inverse = np.empty(shape, np.float32)
    _invert(capacity, sides, up, inverse)
    return {
        "capacity": capacity,
        "sides": sides,
        "up": up,
        "inverse": inverse,
        "cold": (random.random(shape, dtype=np.float32) < 0.03).astype(np.uint8),
        "b": random.random(shape) - 0.5,
        **{name: np.zeros(shape, np.float32) for name in ("x", "r", "p", "q")},
    }


def _run(store: Store, iterations: int) -> tuple[float, float]:
    with store.window("start"):
        rho = _start(store["b"], store["inverse"], store["cold"], store.write("p"))
    square = ratio = 0.0
    for iteration in range(iterations):
        if iteration > 0:
            with store.window("direction"):
                _turn(store.update("p"), store["r"], store["inverse"], ratio)
        with store.window("apply"):
            coefficients = store["capacity"], store["sides"], store["up"], store["cold"]
            length = rho / _apply(*coefficients, store["p"], store.write("q"))
        if iteration == 0:
            with store.window("first step"):
                _set(store["p"], store.write("x"), length)
            with store.window("first residual"):
                fixed = store["b"], store["cold"], store["inverse"]
                square, after = _set_residual(*fixed, store["q"], store.write("r"), length)
        else:
            with store.window("step"):
                _add(store.update("x"), store["p"], length)
            with store.window("residual"):
                square, after = _subtract(store.update("r"), store["q"], store["inverse"], length)
        ratio, rho = after / rho, after
    with store.window("check"):
        return square, _sum(store["x"])


@compiled
def _across(one: float, other: float) -> float:
    """The conductivity of a face between two cells."""
    return 2.0 * one * other / (one + other)


@compiled
def _invert(capacity: Array, sides: Array, up: Array, inverse: Array) -> None:
    """One over the diagonal of A."""
    layers, rows, columns = capacity.shape
    for k in range(layers):
        for j in range(rows):
            for i in range(columns):
                total = capacity[k, j, i]
                for m in (i - 1, i + 1):
                    if 0 <= m < columns:
                        total += _across(sides[0, k, j, i], sides[0, k, j, m])
                for m in (j - 1, j + 1):
                    if 0 <= m < rows:
                        total += _across(sides[1, k, j, i], sides[1, k, m, i])
                for m in (k - 1, k + 1):
                    if 0 <= m < layers:
                        total += _across(up[k, j, i], up[m, j, i])
                inverse[k, j, i] = 1.0 / total


@compiled
def _apply(capacity: Array, sides: Array, up: Array, cold: Array, p: Array, q: Array) -> float:
    """q = A p; returns p . q."""
    layers, rows, columns = p.shape
    product = 0.0
    for k in range(layers):
        for j in range(rows):
            for i in range(columns):
                here = p[k, j, i]
                flow = 0.0
                for m in (i - 1, i + 1):
                    if 0 <= m < columns:
                        flow += _across(sides[0, k, j, i], sides[0, k, j, m]) * (here - p[k, j, m])
                for m in (j - 1, j + 1):
                    if 0 <= m < rows:
                        flow += _across(sides[1, k, j, i], sides[1, k, m, i]) * (here - p[k, m, i])
                for m in (k - 1, k + 1):
                    if 0 <= m < layers:
                        flow += _across(up[k, j, i], up[m, j, i]) * (here - p[m, j, i])
                value = 0.0 if cold[k, j, i] else capacity[k, j, i] * here + flow
                q[k, j, i] = value
                product += here * value
    return product


@compiled
def _start(b: Array, inverse: Array, cold: Array, p: Array) -> float:
    """p = inverse b, away from the cold cells; returns b . p."""
    rho = 0.0
    for k in range(b.shape[0]):
        for j in range(b.shape[1]):
            for i in range(b.shape[2]):
                value = 0.0 if cold[k, j, i] else b[k, j, i]
                p[k, j, i] = value * inverse[k, j, i]
                rho += value * value * inverse[k, j, i]
    return rho


@compiled
def _set(p: Array, x: Array, length: float) -> None:
    for k in range(x.shape[0]):
        for j in range(x.shape[1]):
            for i in range(x.shape[2]):
                x[k, j, i] = length * p[k, j, i]


@compiled
def _add(x: Array, p: Array, length: float) -> None:
    for k in range(x.shape[0]):
        for j in range(x.shape[1]):
            for i in range(x.shape[2]):
                x[k, j, i] += length * p[k, j, i]


@compiled
def _set_residual(b: Array, cold: Array, inverse: Array, q: Array, r: Array, length: float) -> tuple[float, float]:
    """r = b - length q; returns r . r and r . inverse r."""
    square = 0.0
    rho = 0.0
    for k in range(r.shape[0]):
        for j in range(r.shape[1]):
            for i in range(r.shape[2]):
                value = 0.0 if cold[k, j, i] else b[k, j, i] - length * q[k, j, i]
                r[k, j, i] = value
                square += value * value
                rho += value * value * inverse[k, j, i]
    return square, rho


@compiled
def _subtract(r: Array, q: Array, inverse: Array, length: float) -> tuple[float, float]:
    """r -= length q; returns r . r and r . inverse r."""
    square = 0.0
    rho = 0.0
    for k in range(r.shape[0]):
        for j in range(r.shape[1]):
            for i in range(r.shape[2]):
                value = r[k, j, i] - length * q[k, j, i]
                r[k, j, i] = value
                square += value * value
                rho += value * value * inverse[k, j, i]
    return square, rho


@compiled
def _turn(p: Array, r: Array, inverse: Array, ratio: float) -> None:
    for k in range(p.shape[0]):
        for j in range(p.shape[1]):
            for i in range(p.shape[2]):
                p[k, j, i] = inverse[k, j, i] * r[k, j, i] + ratio * p[k, j, i]


@compiled
def _sum(x: Array) -> float:
    total = 0.0
    for k in range(x.shape[0]):
        for j in range(x.shape[1]):
            for i in range(x.shape[2]):
                total += x[k, j, i]
    return total
