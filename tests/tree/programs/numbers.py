"""Numbers: overflow, casts, dtypes, matmul against *, and reductions whose order matters."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


def _matrix(n, m, seed=0):
    return np.random.default_rng(seed).normal(size=(n, m))


@program(lambda: (_matrix(3, 3), _matrix(3, 3, 1), _matrix(1, 3)[0]))
def matmul_is_not_times(a, b, v):
    return a @ b, a * b, a @ v, v @ a, v @ v, v * v, a * v, a.dot(v), np.matmul(a, b) - a @ b


@program(lambda: (_matrix(3, 3), _matrix(3, 3, 1)))
def matrices_that_multiply_by_times(a, b):
    p, q = np.asmatrix(a), np.asmatrix(b)
    r = p * q
    p[0, 0] = 100
    s = p[0] * q
    t = p**2
    return r, s, t, p, type(s).__name__


@program(lambda: (np.array([120, 250], dtype=np.uint8), np.int32(7)))
def small_integers_wrap(a, n):
    b = a + np.uint8(10)
    c = a * 2
    a += 9
    d = a.astype(np.int8)
    return a, b, c, d, a + n, n / 2, n // 2


@program(lambda: (np.arange(3), np.arange(3.0), np.arange(3, dtype=np.float32), np.array([True, False, True])))
def mixed_dtypes(i, f, h, b):
    return i + f, f + h, h * 2, h * np.float64(2), i * b, i / 2, i // 2, ~b, b + b, b & (i > 0), i**2, h.sum(), i.mean()


@program(lambda: (_matrix(50, 40),))
def reductions(m):
    a = m.sum()
    b = m.sum(axis=0)
    c = m.mean(axis=1, keepdims=True)
    d = (m - c).std()
    e = np.prod(m[0]) + m.T.sum()
    f = np.add.reduce(m.ravel()[::3])
    return a, b, c, d, e, f, m.argmax(), m.var(axis=0, ddof=1), sum(m[0])


@program(lambda: (_matrix(200, 30),))
def long_elementwise_expressions(m):
    a = np.exp(-m * m) + np.sin(m) / (1 + m**2) - np.tanh(m) * 0.5
    b = 1 / (1 + np.exp(-a))
    m *= b
    c = np.hypot(a, b) + np.arctan2(m, a)
    return a, b, c


@program(lambda: (np.asfortranarray(_matrix(6, 5)), _matrix(6, 5, 1)))
def memory_order_of_results(f, c):
    return (
        f + 1,
        f + c,
        f * f,
        f.T + 1,
        np.sqrt(np.abs(f))[::2],
        f.copy(),
        f.copy(order="K"),
        np.zeros_like(f),
        f[:, ::-1] * 2,
    )


@program(lambda: (np.array([1, "a", None, 2.5, [1]], dtype=object),))
def object_arrays(a):
    b = a * 2 if False else a.copy()
    b[0] = b[0] + 5
    b[4].append(2)
    a[2] = a
    a[2] = 7
    return a, b


@program(lambda: (np.array([2, 3, 10**30], dtype=object),))
def arithmetic_of_object_arrays(a):
    b = a * a
    c = b.sum()
    a += 1
    d = a @ b
    return a, b, c, d


@program(lambda: (np.array([(1, 2.0), (3, 4.0)], dtype=[("n", "i8"), ("x", "f8")]),))
def structured_arrays(a):
    x = a["x"]
    x += 1
    a[0] = (9, 9.5)
    a["n"][1] = 7
    row = a[1]
    row["x"] = 100
    b = a["x"] > 5
    return a, x, b, a["x"].sum()


@program(lambda: (np.arange(10), np.array(["2020-01-01", "2020-03-01"], dtype="M8[D]")))
def dates_and_strings(a, days):
    days += 1
    gap = days[1] - days[0]
    words = np.array(["b", "a", "ccc"])
    words[0] = "longer"
    return days, gap, words, np.char.upper(words), a.astype(str)[3]


@program(lambda: (_matrix(4, 4),))
def linear_algebra(m):
    s = m @ m.T + np.eye(4)
    inverse = np.linalg.inv(s)
    w, v = np.linalg.eigh(s)
    low = np.linalg.cholesky(s)
    q, r = np.linalg.qr(m)
    return inverse @ s, w, np.abs(v), low, q @ r, np.linalg.det(s), np.trace(s), np.linalg.norm(m, axis=1)


@program(lambda: (_matrix(3, 4), _matrix(4, 5, 1), _matrix(2, 12, 2).reshape(2, 3, 4)))
def einsum_and_batches(a, b, c):
    d = np.einsum("ij,jk->ik", a, b)
    e = c @ b
    f = np.einsum("bij,ij->b", c, a)
    g = np.tensordot(c, a, axes=([1, 2], [0, 1]))
    return d, e, f, g, np.outer(a[0], b[0]), np.kron(a[:1], b[:1, :2])


@program(lambda: (np.arange(4.0), 2**40))
def scalars_of_numpy_and_python(a, n):
    x = a[1]
    y = float(a[2])
    z = a.sum()
    return type(x).__name__, type(y).__name__, type(z).__name__, x + 1, y + 1, x / 3, n * n, z * n, int(z), x.item() + n


@program(lambda: (np.array(3.0), np.zeros((0, 3))))
def zero_dimensions_and_empty(a, e):
    b = a + 1
    a += 1
    a[...] = 9
    c = e.sum(axis=0)
    e[:] = 5
    return a, b, c, e @ np.ones(3), a[()], e.T


@program(lambda: (np.arange(8.0), np.array([3, 1, 2])))
def sorting_and_searching(a, k):
    b = np.sort(a)[::-1]
    c = np.argsort(k, kind="stable")
    a[k] = a[k[c]]
    d = np.searchsorted(a, 2.5)
    k.sort()
    return a, b, c, d, k, np.unique(a), np.diff(a), np.cumprod(a + 1), np.partition(b, 3)[:3].sum()
