"""Algorithms of a first course: sorting, dynamic programming, graphs, root finding, sieves, stencils."""

from __future__ import annotations

import heapq

import numpy as np
from tree.programs.runner.program import program


def _numbers():
    return np.array([5, 2, 9, 1, 7, 3, 8, 2])


@program(lambda: (_numbers(),))
def bubble_sort(a):
    n = len(a)
    while True:
        swapped = False
        for i in range(n - 1):
            if a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]
                swapped = True
        if not swapped:
            break
    return a


@program(lambda: (_numbers().tolist(),))
def insertion_sort(xs):
    for i in range(1, len(xs)):
        x, j = xs[i], i
        while j and xs[j - 1] > x:
            xs[j] = xs[j - 1]
            j -= 1
        xs[j] = x
    return xs


@program(lambda: (_numbers(),))
def selection_sort(a):
    for i in range(len(a)):
        k = i + int(np.argmin(a[i:]))
        a[i], a[k] = a[k], a[i]
    return a


@program(lambda: (_numbers().tolist(),))
def heap_sort(xs):
    heap = []
    for x in xs:
        heapq.heappush(heap, x)
    return [heapq.heappop(heap) for _ in range(len(heap))], xs


@program(lambda: (60,))
def sieve(n):
    prime = np.ones(n, dtype=bool)
    prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if prime[i]:
            prime[i * i :: i] = False
    return np.flatnonzero(prime)


@program(lambda: ("kitten", "sitting"))
def edit_distance(s, t):
    d = np.zeros((len(s) + 1, len(t) + 1), dtype=int)
    d[:, 0] = range(len(s) + 1)
    d[0] = range(len(t) + 1)
    for i in range(1, len(s) + 1):
        for j in range(1, len(t) + 1):
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (s[i - 1] != t[j - 1]))
    return d[-1, -1], d


@program(lambda: ([3, 4, 5, 9], [3, 4, 4, 10], 11))
def knapsack(weights, values, room):
    best = [0] * (room + 1)
    for w, v in zip(weights, values, strict=True):
        for r in range(room, w - 1, -1):
            best[r] = max(best[r], best[r - w] + v)
    return best


@program(lambda: (5,))
def floyd_warshall(n):
    d = np.full((n, n), np.inf)
    for i in range(n):
        d[i, i] = 0
        d[i, (i + 1) % n] = i + 1
        d[i, (i * 2) % n] = min(d[i, (i * 2) % n], 3)
    for k in range(n):
        for i in range(n):
            d[i] = np.minimum(d[i], d[i, k] + d[k])
    return d


@program(lambda: ({"a": {"b": 1, "c": 4}, "b": {"c": 2, "d": 6}, "c": {"d": 3}, "d": {}}, "a"))
def dijkstra(graph, start):
    far = {start: 0}
    queue = [(0, start)]
    while queue:
        d, u = heapq.heappop(queue)
        if d > far[u]:
            continue
        for v, w in graph[u].items():
            if d + w < far.get(v, 10**9):
                far[v] = d + w
                heapq.heappush(queue, (far[v], v))
    return far


@program(lambda: ({1: [2, 3], 2: [4], 3: [4], 4: []},))
def breadth_first(graph):
    seen, queue = {1}, [1]
    order = []
    while queue:
        u = queue.pop(0)
        order.append(u)
        for v in graph[u]:
            if v not in seen:
                seen.add(v)
                queue.append(v)
    return order


@program(lambda: (lambda x: x**3 - 2 * x - 5, 0.0, 5.0))
def bisection(f, low, high):
    steps = 0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
        steps += 1
    return low, steps


@program(lambda: (np.array([2.0, 3.0, 10.0]),))
def newton_for_square_roots(a):
    x = a.copy()
    for n in range(50):
        new = 0.5 * (x + a / x)
        if np.all(np.abs(new - x) < 1e-12):
            return new, n
        x = new
    return x, -1


@program(lambda: (np.random.default_rng(0).normal(size=(5, 5)) + 5 * np.eye(5),))
def lu(m):
    n = len(m)
    low = np.eye(n)
    up = m.copy()
    for k in range(n):
        for i in range(k + 1, n):
            low[i, k] = up[i, k] / up[k, k]
            up[i, k:] -= low[i, k] * up[k, k:]
    return low, up, np.allclose(low @ up, m)


@program(lambda: (np.random.default_rng(1).normal(size=(5, 5)),))
def cholesky(m):
    a = m @ m.T + np.eye(5)
    low = np.zeros_like(a)
    for i in range(5):
        for j in range(i + 1):
            s = a[i, j] - low[i, :j] @ low[j, :j]
            low[i, j] = np.sqrt(s) if i == j else s / low[j, j]
    return low


@program(lambda: (np.random.default_rng(2).normal(size=(6, 4)),))
def gram_schmidt(m):
    q = m.copy()
    for j in range(4):
        for k in range(j):
            q[:, j] -= (q[:, k] @ q[:, j]) * q[:, k]
        q[:, j] /= np.sqrt(q[:, j] @ q[:, j])
    return q


@program(lambda: (np.array([[1.0, 1.0], [1.0, 0.0]]), 13))
def matrix_power(m, n):
    out = np.eye(2)
    while n:
        if n & 1:
            out = out @ m
        m = m @ m
        n >>= 1
    return out


@program(lambda: (np.sin(np.arange(20.0)), 4))
def moving_average(a, w):
    out = np.zeros(len(a) - w + 1)
    for i in range(len(out)):
        out[i] = a[i : i + w].mean()
    return out


@program(lambda: (np.sin(np.arange(30.0)) * 5,))
def histogram(a):
    counts = np.zeros(10, dtype=int)
    for x in a:
        counts[min(9, int((x + 5) // 1))] += 1
    return counts


@program(lambda: (np.arange(36.0).reshape(6, 6), np.array([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]])))
def convolution(image, kernel):
    out = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            out[i, j] = (image[i : i + 3, j : j + 3] * kernel).sum()
    return out


@program(lambda: (np.random.default_rng(3).integers(0, 2, (8, 8)), 5))
def game_of_life(board, steps):
    for _ in range(steps):
        n = sum(np.roll(np.roll(board, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        board = ((n == 3) | ((board == 1) & (n == 2))).astype(board.dtype)
    return board


@program(lambda: (np.sin(np.arange(64.0)).reshape(8, 8), 6))
def heat(u, steps):
    for _ in range(steps):
        v = u.copy()
        for i in range(1, 7):
            v[i, 1:-1] = u[i, 1:-1] + 0.1 * (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, :-2] + u[i, 2:] - 4 * u[i, 1:-1])
        u = v
    return u


@program(lambda: (np.zeros((20, 30)), 15))
def mandelbrot(out, most):
    for i in range(20):
        y = -1.2 + 2.4 * i / 19
        for j in range(30):
            c = complex(-2 + 3 * j / 29, y)
            z = 0j
            for n in range(most):  # noqa: B007
                z = z * z + c
                if abs(z) > 2:
                    break
            else:
                n = most
            out[i, j] = n
    return out


@program(lambda: (np.array([[1.0, 0], [0, 1], [-1, 0]]), 20))
def n_bodies(x, steps):
    v = np.zeros_like(x)
    for _ in range(steps):
        f = np.zeros_like(x)
        for i in range(3):
            for j in range(3):
                if i == j:
                    continue
                d = x[j] - x[i]
                f[i] += d / (d @ d + 0.1) ** 1.5
        v += 0.01 * f
        x += 0.01 * v
    return x, v


@program(lambda: (252, 105))
def greatest_common_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


@program(lambda: (6,))
def queens(n):
    found = []
    placed = []

    def place(row):
        if row == n:
            found.append(placed.copy())
            return
        for column in range(n):
            if all(column != c and abs(column - c) != row - r for r, c in enumerate(placed)):
                placed.append(column)
                place(row + 1)
                placed.pop()

    place(0)
    return len(found), found[0]


@program(lambda: (np.arange(16),))
def binary_search(a):
    places = []
    for x in (0, 7, 15, 16, -1):
        low, high = 0, len(a)
        while low < high:
            middle = (low + high) // 2
            if a[middle] < x:
                low = middle + 1
            else:
                high = middle
        places.append(low if low < len(a) and a[low] == x else None)
    return places


@program(lambda: (np.array([3.0, -2, 4, -1, 2, -6, 5]),))
def largest_sum(a):
    best = here = a[0]
    for x in a[1:]:
        here = max(x, here + x)
        best = max(best, here)
    return best


@program(lambda: (np.exp(1j * np.arange(8)),))
def fourier_by_halves(x):
    n = len(x)
    if n == 1:
        return x
    even, odd = fourier_by_halves(x[::2]), fourier_by_halves(x[1::2])
    turn = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + turn, even - turn])


@program(lambda: (np.arange(5.0), np.arange(5.0) ** 2))
def interpolation(x, y):
    table = y.copy()
    for k in range(1, 5):
        table[k:] = (table[k:] - table[k - 1 : -1]) / (x[k:] - x[:-k])
    value = table[-1]
    for k in range(3, -1, -1):
        value = value * (2.5 - x[k]) + table[k]
    return table, value


@program(lambda: ([("a", 3), ("b", 1), ("a", 2)],))
def group_by(pairs):
    groups = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return {key: sum(values) / len(values) for key, values in sorted(groups.items())}


@program(lambda: (np.random.default_rng(5).random((5, 5)),))
def page_rank(m):
    m /= m.sum(axis=0)
    x = np.full(5, 0.2)
    n = 0
    while True:
        new = 0.85 * m @ x + 0.03
        change = np.abs(new - x).sum()
        x = new
        n += 1
        if change < 1e-8 or n > 200:
            break
    return x, n


@program(lambda: (np.arange(4.0), 0.1, 12))
def runge_kutta(y, h, n):
    def slope(y):
        return np.sin(y) - 0.1 * y

    path = np.zeros((n, 4))
    for i in range(n):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path[i] = y
    return path
