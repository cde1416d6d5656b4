"""Single elements and small regions, reached through different names while stores are under way."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


def _square(n=4):
    return np.arange(float(n * n)).reshape(n, n)


def _slow(x):
    return np.sort(np.sin(np.arange(10000.0) * x))[-1]


@program(lambda: (_square(),))
def an_element_through_a_row(m):
    row = m[1]
    m[1, 2] = _slow(1.0)
    x = row[2]
    row[3] = _slow(2.0)
    y = m[1, 3]
    return x, y, m


@program(lambda: (np.arange(6.0),))
def an_element_through_a_reversed_view(a):
    b = a[::-1]
    b[0] = _slow(1.0)
    x = a[5]
    a[0] = _slow(2.0)
    y = b[5]
    return x, y


@program(lambda: (np.arange(6.0),))
def an_element_and_a_slice(a):
    a[3] = _slow(1.0)
    b = a[2:4] * 2
    a[:2] = b
    x = a[1]
    a[-3] = _slow(3.0)
    return x, a[3], a[-3]


@program(lambda: (np.arange(6.0),))
def an_element_read_and_then_overwritten(a):
    b = a[1:]
    x = a[2] * _slow(1.0)
    b[1] = 100.0
    y = b[1] + _slow(1.0)
    a[2] = 200.0
    return x, y, a


@program(lambda: (_square(),))
def indices_of_every_form(m):
    i, j = 1, np.int64(2)
    m[i][j] = _slow(1.0)
    a = m[i, j]
    m[(i, j)] = _slow(2.0)
    b = m[1][2]
    m[-3, -2] = _slow(3.0)
    c = m[i, 2]
    m[True, 1] = 5
    d = m[0, 1]
    m[
        i,
        j,
    ] = _slow(4.0)
    e = m[..., 2][1]
    m[None, 1, 2] = 7
    return a, b, c, d, e, m


@program(lambda: (_square(),))
def a_column_and_an_element(m):
    column = m[:, 1]
    for i in range(4):
        m[i, 1] = _slow(i + 1.0)
        column[i] += 1
    x = column[3]
    m[3, 1] = 0
    return x, m


@program(lambda: (np.arange(8.0), [0, 3, 3, 5]))
def an_index_that_changes(a, places):
    i = 0
    for p in places:
        a[i] = _slow(1.0 + p)
        i = p
        a[i] += a[0]
    return a, i


@program(lambda: (np.arange(4.0), np.arange(4.0)))
def a_float_read_before_a_fill(a, b):
    x = a[1]
    a[1] = _slow(1.0)
    y = float(a[1])
    b[1] = a[1]
    a.fill(0)
    z = b[1] + x
    return x, y, z, a, b


@program(lambda: (np.array(3.0), np.arange(3.0)))
def arrays_without_dimensions(z, a):
    v = a[1, ...]
    z[...] = _slow(1.0)
    x = z[()] + 1
    a[1] = _slow(2.0)
    y = v + 1
    v[...] = 9
    return x, y, a[1], z


@program(lambda: (_square(), _square()))
def diagonals_and_traces(m, n):
    d = np.diagonal(m)
    m[2, 2] = _slow(1.0)
    x = d[2]
    f = m.reshape(-1)[::5]
    f[1] = _slow(2.0)
    y = m[1, 1] + np.trace(m)
    n[:] = m
    f[0] = -1
    return x, y, n


@program(lambda: (np.arange(12.0),))
def reshaped_elements(a):
    m = a.reshape(3, 4)
    t = m.T
    t[1, 2] = _slow(1.0)
    x = a[9]
    a[4] = _slow(2.0)
    y = m[1, 0] + t[0, 1]
    return x, y
