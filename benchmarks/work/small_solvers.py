"""Solvers as loops over small arrays and numbers: numerical mathematics as it is taught."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def gauss_seidel(a: Array, b: Array, rounds: int) -> Array:
    x = np.zeros_like(b)
    for _ in range(rounds):
        for i in range(len(b)):
            x[i] = (b[i] - a[i, :i] @ x[:i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


def sor(grid: Array, omega: float, rounds: int) -> Array:
    """Laplace's equation on a small plate, by over-relaxation."""
    u = grid.copy()
    rows, columns = u.shape
    for _ in range(rounds):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                mean = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                u[i, j] += omega * (mean - u[i, j])
    return u


def jacobi(a: Array, b: Array, rounds: int) -> tuple[Array, float]:
    x = np.zeros(len(b))
    for _ in range(rounds):
        new = np.zeros(len(b))
        for i in range(len(b)):
            s = np.dot(a[i], x) - a[i, i] * x[i]
            new[i] = (b[i] - s) / a[i, i]
        x = new
    return x, float(np.linalg.norm(a @ x - b))


def conjugate_gradient(a: Array, rights: Array) -> Array:
    """Many right-hand sides, one after another."""
    solutions = []
    for b in rights:
        x = np.zeros(len(b))
        r = b - a @ x
        p = r.copy()
        rr = r @ r
        while rr > 1e-18:
            ap = a @ p
            alpha = rr / (p @ ap)
            x = x + alpha * p
            r = r - alpha * ap
            new = r @ r
            p = r + new / rr * p
            rr = new
        solutions.append(x)
    return np.array(solutions)


def thomas(lower: Array, middle: Array, upper: Array, right: Array) -> Array:
    """A tridiagonal system."""
    n = len(right)
    c, d = np.zeros(n), np.zeros(n)
    c[0] = upper[0] / middle[0]
    d[0] = right[0] / middle[0]
    for i in range(1, n):
        under = middle[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / under
        d[i] = (right[i] - lower[i] * d[i - 1]) / under
    x = np.zeros(n)
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


def crank_nicolson(start: Array, steps: int) -> Array:
    """Heat along a rod, a tridiagonal system in each step."""
    u = start.copy()
    n = len(u)
    for _ in range(steps):
        right = u.copy()
        right[1:-1] = u[1:-1] + 0.5 * (u[2:] - 2 * u[1:-1] + u[:-2])
        c = [0.0] * n
        d = [0.0] * n
        for i in range(1, n - 1):
            under = 2.0 + 0.5 * c[i - 1]
            c[i] = -0.5 / under
            d[i] = (right[i] + 0.5 * d[i - 1]) / under
        for i in range(n - 2, 0, -1):
            u[i] = d[i] - c[i] * u[i + 1]
    return u


def newton_system(starts: Array) -> Array:
    roots = np.empty_like(starts)
    for number, start in enumerate(starts):
        x, y = start
        for _ in range(50):
            f = np.array([x * x + y * y - 4.0, x * y - 1.0])
            j = np.array([[2 * x, 2 * y], [y, x]])
            step = np.linalg.solve(j, -f)
            x, y = x + step[0], y + step[1]
            if np.abs(step).max() < 1e-12:
                break
        roots[number] = x, y
    return roots


def secants(count: int) -> list[float]:
    found = []
    for k in range(count):
        a, b = 0.0, 2.0 + k / count
        fa, fb = math.cos(a) - a, math.cos(b) - b
        while abs(b - a) > 1e-13 and fb != fa:
            a, b, fa = b, b - fb * (b - a) / (fb - fa), fb
            fb = math.cos(b) - b
        found.append(b)
    return found


def slope(state: Array) -> Array:
    x, y, z = state
    return np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])


def runge_kutta(steps: int, h: float) -> Array:
    """Lorenz's weather."""
    state = np.array([1.0, 1.0, 1.0])
    path = np.empty((steps, 3))
    for n in range(steps):
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path[n] = state
    return path


def lotka_volterra(steps: int, dt: float) -> Array:
    hares, lynxes = np.empty(steps), np.empty(steps)
    hares[0], lynxes[0] = 10.0, 5.0
    for t in range(steps - 1):
        born = 1.1 * hares[t] - 0.4 * hares[t] * lynxes[t]
        eaten = 0.1 * hares[t] * lynxes[t] - 0.4 * lynxes[t]
        hares[t + 1] = hares[t] + dt * born
        lynxes[t + 1] = lynxes[t] + dt * eaten
    return np.stack([hares, lynxes])


def few_bodies(positions: Array, speeds: Array, masses: Array, steps: int) -> tuple[Array, float]:
    x, v = positions.copy(), speeds.copy()
    n = len(masses)
    dt = 1e-3
    for _ in range(steps):
        force = np.zeros_like(x)
        for i in range(n):
            for j in range(n):
                if i != j:
                    apart = x[j] - x[i]
                    distance = np.sqrt((apart**2).sum() + 1e-3)
                    force[i] += masses[j] * apart / distance**3
        v += dt * force
        x += dt * v
    return x, float((masses * (v**2).sum(axis=1)).sum())


def power_iteration(matrices: list[Array]) -> list[float]:
    largest = []
    for a in matrices:
        v = np.ones(len(a))
        value = 0.0
        for _ in range(500):
            w = a @ v
            new = float(np.linalg.norm(w))
            v = w / new
            if abs(new - value) < 1e-12 * new:
                break
            value = new
        largest.append(value)
    return largest


def jacobi_eigenvalues(matrix: Array, sweeps: int) -> Array:
    a = matrix.copy()
    n = len(a)
    for _ in range(sweeps):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) < 1e-12:
                    continue
                theta = 0.5 * np.arctan2(2 * a[p, q], a[q, q] - a[p, p])
                c, s = np.cos(theta), np.sin(theta)
                rows_p, rows_q = a[p, :].copy(), a[q, :].copy()
                a[p, :], a[q, :] = c * rows_p - s * rows_q, s * rows_p + c * rows_q
                columns_p, columns_q = a[:, p].copy(), a[:, q].copy()
                a[:, p], a[:, q] = c * columns_p - s * columns_q, s * columns_p + c * columns_q
    return np.sort(np.diag(a))


def givens(matrix: Array) -> tuple[Array, Array]:
    """QR by rotations."""
    r = matrix.copy()
    rows, columns = r.shape
    q = np.eye(rows)
    for j in range(columns):
        for i in range(rows - 1, j, -1):
            a, b = r[i - 1, j], r[i, j]
            length = np.hypot(a, b)
            if length == 0:
                continue
            c, s = a / length, b / length
            turn = np.array([[c, s], [-s, c]])
            r[i - 1 : i + 1, :] = turn @ r[i - 1 : i + 1, :]
            q[:, i - 1 : i + 1] = q[:, i - 1 : i + 1] @ turn.T
    return q, r


def gram_schmidt(matrix: Array) -> Array:
    q = np.zeros_like(matrix)
    for j in range(matrix.shape[1]):
        v = matrix[:, j].copy()
        for i in range(j):
            v -= (q[:, i] @ v) * q[:, i]
        q[:, j] = v / np.linalg.norm(v)
    return q


def lu(matrix: Array) -> tuple[Array, list[int]]:
    a = matrix.copy()
    n = len(a)
    order = list(range(n))
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(a[k:, k])))
        if pivot != k:
            a[[k, pivot]] = a[[pivot, k]]
            order[k], order[pivot] = order[pivot], order[k]
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a, order


def cholesky(matrix: Array) -> Array:
    n = len(matrix)
    lower = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = matrix[i, j]
            for k in range(j):
                s -= lower[i, k] * lower[j, k]
            lower[i, j] = np.sqrt(s) if i == j else s / lower[j, j]
    return lower


def fft(values: list[complex]) -> list[complex]:
    n = len(values)
    if n == 1:
        return values
    even, odd = fft(values[0::2]), fft(values[1::2])
    out = [0j] * n
    for k in range(n // 2):
        twist = cmath.exp(-2j * cmath.pi * k / n) * odd[k]
        out[k] = even[k] + twist
        out[k + n // 2] = even[k] - twist
    return out


def simpson(count: int) -> float:
    h = 1.0 / count
    total = 0.0
    for k in range(count):
        a, b = k * h, (k + 1) * h
        total += h / 6 * (math.exp(-a * a) + 4 * math.exp(-(((a + b) / 2) ** 2)) + math.exp(-b * b))
    return total


def sgd(x: Array, y: Array, epochs: int, seed: int) -> Array:
    draw = np.random.default_rng(seed)
    w = np.zeros(x.shape[1])
    for epoch in range(epochs):
        rate = 0.1 / (1 + epoch)
        for i in draw.permutation(len(y)):
            error = x[i] @ w - y[i]
            w -= rate * error * x[i]
    return w


def _dominant(n: int, seed: int) -> Array:
    return np.random.default_rng(seed).random((n, n)) + n * np.eye(n)


def _symmetric(n: int, seed: int) -> Array:
    a = np.random.default_rng(seed).normal(size=(n, n))
    return a @ a.T + np.eye(n)


def _plate() -> Array:
    grid = np.zeros((24, 24))
    grid[0] = 1.0
    return grid


_draw = np.random.default_rng

PROGRAMS = {
    "Gauss-Seidel": (gauss_seidel, lambda: (_dominant(60, 0), _draw(1).random(60), 1000)),
    "over-relaxation": (sor, lambda: (_plate(), 1.5, 500)),
    "Jacobi": (jacobi, lambda: (_dominant(40, 0), _draw(1).random(40), 4000)),
    "conjugate gradient": (conjugate_gradient, lambda: (_symmetric(20, 0), _draw(1).random((1200, 20)))),
    "Thomas": (thomas, lambda: tuple(_draw(k).random(200_000) + (2.0 if k == 1 else 0.0) for k in range(4))),
    "Crank-Nicolson": (crank_nicolson, lambda: (np.sin(np.linspace(0, 3, 60)), 4000)),
    "Newton": (newton_system, lambda: (_draw(0).uniform(1.2, 3.0, (4000, 2)) * [1.0, 0.3],)),
    "secants": (secants, lambda: (150_000,)),
    "Runge-Kutta": (runge_kutta, lambda: (12_000, 0.005)),
    "Lotka-Volterra": (lotka_volterra, lambda: (200_000, 1e-3)),
    "few bodies": (few_bodies, lambda: (_draw(0).normal(size=(6, 3)), np.zeros((6, 3)), np.ones(6), 1500)),
    "power iteration": (power_iteration, lambda: ([_symmetric(12, k) for k in range(800)],)),
    "Jacobi eigenvalues": (jacobi_eigenvalues, lambda: (_symmetric(48, 0), 30)),
    "Givens": (givens, lambda: (_draw(0).normal(size=(220, 180)),)),
    "Gram-Schmidt": (gram_schmidt, lambda: (_draw(0).normal(size=(400, 320)),)),
    "LU": (lu, lambda: (_draw(0).normal(size=(360, 360)),)),
    "Cholesky": (cholesky, lambda: (_symmetric(160, 0),)),
    "FFT": (fft, lambda: ([complex(k % 7, k % 3) for k in range(1 << 16)],)),
    "Simpson": (simpson, lambda: (500_000,)),
    "SGD": (sgd, lambda: (_draw(0).normal(size=(1000, 5)), _draw(1).normal(size=1000), 60, 2)),
}
