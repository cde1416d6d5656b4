"""Stores through whatever may stand before the brackets, and results that go into arguments."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


def _slow(n=4, x=1.0):
    return np.sort(np.sin(np.arange(10000.0) * x))[-n:] * 3


def _same(x):
    return x


def _last(*xs):
    return xs[-1]


@program(lambda: (np.zeros(4), np.zeros(4)))
def through_calls_and_displays(a, b):
    np.asarray(a)[1] = _slow()[0]
    x = a[1]
    _same(a)[2] = _slow()[0]
    y = a + 1
    a.reshape(2, 2)[0][1] = _slow(x=2.0)[1]
    z = a.sum()
    [a, b][1][0] = _slow()[2]
    u = b * 2
    {"k": b}["k"][1] = 7
    _last(a, b)[3] = _slow()[3]
    v = b - 1
    return x, y, z, u, v


@program(lambda: (np.zeros((4, 4)), True))
def through_conditions_and_views(m, which):
    n = np.ones((4, 4))
    (m if which else n)[0] = _slow()
    x = m[0] + n[0]
    m.T[1] = _slow()
    y = m[1].sum()
    m[1:][0][:2] = _slow(2)
    z = m[1] * 2
    m[:][2] += _slow()
    m.ravel()[8] = 5
    return x, y, z, m


@program(lambda: (np.zeros((3, 4)),))
def through_starred_targets(m):
    *xs, y = m
    xs[0][:] = _slow()
    a = m.sum()
    y[1] = _slow()[0]
    b = m[2, 1]
    (p, *_), q = m[:2], m[2]
    p[0] = _slow()[1]
    q += 1
    return a, b, m, xs[0][0]


@program(lambda: (np.zeros((4, 4)), np.ones((4, 4))))
def through_loop_variables(m, n):
    for i, row in enumerate(m):
        row[:] = _slow(x=i + 1.0)
    x = m.sum(axis=0)
    for p, q in zip(m, n.T, strict=True):
        q[:] = p + _slow()
        p += q[::-1]
    y = n[0] * 2
    [row.fill(row[0]) for row in m]
    return x, y, m.copy(), n.copy()


@program(lambda: (np.arange(4.0), np.arange(4.0), np.zeros(4)))
def results_by_position(a, b, c):
    np.add(_slow(), b, c)
    x = c + 1
    np.multiply(c, 2, a)
    y = a - c
    d = np.subtract(a, b, out=b)
    d[0] = 9
    z = b.sum()
    np.divmod(a, 2.0, b, c)
    np.modf(a, out=(b, c))
    return x, y, z, a, b, c, d is b


@program(lambda: (np.arange(16.0).reshape(4, 4), np.zeros((4, 4)), np.zeros(4)))
def results_by_keyword(m, n, v):
    np.matmul(m, m, out=n)
    x = n.trace()
    n.sum(axis=0, out=v)
    y = v * 2
    np.dot(m, n, m)
    z = m[0] + v
    v.clip(0, 50, out=v)
    np.cumsum(v, 0, None, v)
    np.concatenate([v[:2], v[2:]], out=n[1])
    np.einsum("ij->i", m, out=n[2])
    np.take(v, [3, 2, 1, 0], out=n[3], mode="clip")
    return x, y, z, m, n, v


@program(lambda: (np.arange(16.0).reshape(4, 4), np.random.default_rng(2)))
def functions_that_store(m, rng):
    np.fill_diagonal(m[:2, :2], _slow()[0])
    x = m[1, 1]
    np.copyto(m[2], _slow())
    y = m[:, 2] + 1
    np.put(m, [0, 5], _slow()[:2])
    np.place(m, m > 12, [1.0, 2.0])
    z = m.sum()
    rng.shuffle(m[3])
    np.random.shuffle(m[:2])
    np.add.at(m[0], [1, 1], 1)
    np.put_along_axis(m, np.array([[0], [1], [2], [3]]), 7.0, axis=1)
    w = m * 2
    m[1].sort()
    m[:, 0].partition(2)
    np.minimum.accumulate(m, axis=1, out=m)
    return x, y, z, w, m


@program(lambda: ([np.zeros(4), np.ones(4)], {"w": np.zeros(4)}))
def through_containers(xs, d):
    xs[0][:] = _slow()
    a = xs[0].sum()
    xs[0], b = d["w"], xs[0]
    xs[0][1] = _slow()[0]
    c = d["w"] + b
    d["v"] = xs[1]
    d["v"] += _slow()
    e = xs[1][0]
    merged = {**d, "u": b}
    merged["w"][2] = _slow()[1]
    f = d["w"][2] + xs[0][2]
    both = d | {"t": xs}
    both["t"][0][3] = 8
    xs[1:1] = [b]
    xs *= 2
    xs[-1][0] = -1
    return a, c, e, f, xs, d


@program(lambda: (np.zeros(3, dtype=[("n", "i8"), ("x", "f8")]),))
def through_rows_of_records(a):
    row = a[1]
    a["x"][:] = _slow(3)
    x = row["x"]
    row["n"] = 7
    y = a["n"].sum()
    a[1] = (1, 2.0)
    return x, y, row["x"], a


@program(lambda: (np.arange(4.0), np.arange(4.0)), keywords=lambda: {"c": np.zeros(4)})
def through_stars(*arrays, **named):
    first, second = arrays
    first[:] = _slow()
    x = arrays[0] + second
    named["c"][:] = x
    y = sum(v.sum() for v in named.values())
    for v in (*arrays, *named.values()):
        v += 1
    return x, y, arrays, named
