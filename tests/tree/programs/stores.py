"""Stores into arrays: rows, columns, slices, broadcast values, and loops that store into what they read."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


def _square(n=6):
    return np.arange(float(n * n)).reshape(n, n) / 7


@program(lambda: (_square(),))
def rows_one_by_one(m):
    out = np.zeros_like(m)
    for i in range(m.shape[0]):
        out[i, :] = np.sin(m[i, :]) * i
    return out


@program(lambda: (_square(),))
def columns_from_rows(m):
    out = np.zeros_like(m)
    for i in range(m.shape[0]):
        out[:, i] = m[i] ** 2
    return out


@program(lambda: (_square(),))
def rows_stored_into_the_argument(m):
    for i in range(len(m)):
        m[i] = np.sqrt(m[i]) + i
    return m.sum()


@program(lambda: (_square(),))
def each_row_from_the_row_before(m):
    for i in range(1, len(m)):
        m[i] = m[i] + 0.5 * m[i - 1]
    return m


@program(lambda: (_square(),))
def each_row_from_the_row_after(m):
    for i in range(len(m) - 1):
        m[i] = m[i] + 0.5 * m[i + 1]
    return m


@program(lambda: (_square(),))
def rows_backwards(m):
    for i in range(len(m) - 1, -1, -1):
        m[i] -= m[(i + 1) % len(m)]
    return m


@program(lambda: (_square(7),))
def wavefront(m):
    for i in range(1, m.shape[0]):
        for j in range(1, m.shape[1]):
            m[i, j] = max(m[i - 1, j], m[i, j - 1]) + m[i, j] * 0.25
    return m


@program(lambda: (np.arange(9.0),))
def prefix_sum(a):
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    return a[-1]


@program(lambda: (_square(8),))
def gauss_seidel(u):
    for _ in range(3):
        for i in range(1, 7):
            for j in range(1, 7):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


@program(lambda: (_square(8),))
def jacobi(u):
    for _ in range(4):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = new
    return u


@program(lambda: (np.arange(10.0),))
def overlapping_shift_right(a):
    a[1:] = a[:-1]
    return a


@program(lambda: (np.arange(10.0),))
def overlapping_shift_left_and_add(a):
    a[:-1] += a[1:]
    a[2:] = a[:-2] * 2
    return a


@program(lambda: (_square(4),))
def transposed_into_itself(m):
    m[:] = m.T
    return m


@program(lambda: (_square(4),))
def add_its_own_transpose(m):
    m += m.T
    return m


@program(lambda: (np.zeros((3, 4)), np.arange(4.0), 2))
def broadcast_stores(m, row, number):
    m[:] = row
    m[1:] = number
    m[:, 0] = [7, 8, 9]
    m[..., -1] = 0.5
    m[2, 1:3] = row[1:3, None].T
    return m


@program(lambda: (np.zeros(8, dtype=np.int32),))
def a_store_casts(a):
    a[0] = 3.9
    a[1:3] = np.array([1.5, -1.5])
    a[3] = True
    a[4:] = np.float32(2.7)
    return a


@program(lambda: (np.arange(12.0),))
def stores_with_steps(a):
    a[::2] = -1.0
    a[1::4] = a[::4]
    a[::-1] = a
    a[-2:-6:-1] = [1, 2, 3, 4]
    return a


@program(lambda: (_square(4),))
def the_same_row_twice(m):
    m[1] = m[0] * 2
    m[1] = m[1] + m[2]
    m[0] = m[1]
    return m


@program(lambda: (np.zeros(5), [0, 2, 2, 4, 0, 2]))
def repeated_places(a, places):
    for i in places:
        a[i] += 1
    a[[1, 1, 3]] += 1
    np.add.at(a, [1, 1, 3], 1)
    return a


@program(lambda: (_square(6),))
def two_halves(m):
    top = m[:3]
    bottom = m[3:]
    for i in range(3):
        top[i] = bottom[i] + 1
    for i in range(3):
        bottom[i] = top[2 - i] * 2
    return top, bottom, m


@program(lambda: (_square(6),))
def even_and_odd_rows(m):
    for i in range(0, 6, 2):
        m[i] = m[i + 1] * 2
    for i in range(1, 6, 2):
        m[i] = m[i - 1] + 1
    return m


@program(lambda: (np.zeros((4, 4, 3)),))
def planes_of_a_cube(c):
    for k in range(c.shape[2]):
        for i in range(c.shape[0]):
            c[i, :, k] = i * 10 + k
    for i in range(4):
        c[i, i] = c[i].sum(axis=0)
    return c


@program(lambda: (np.arange(5.0), np.ones(5)))
def a_read_before_the_store(a, b):
    c = a + b
    a[:] = 0
    d = a + b
    b[2] = 9
    return c, d, a, b


@program(lambda: (np.arange(25.0).reshape(5, 5),))
def a_store_through_ix(m):
    rows, columns = np.ix_([0, 3], [1, 4])
    m[rows, columns] = -1
    m[[0, 1], [0, 1]] = m[[1, 0], [1, 0]]
    m[np.newaxis, 2] = 5
    return m


@program(lambda: (np.zeros((5, 3)), 4))
def the_row_is_computed(m, n):
    place = 0
    for step in range(n):
        m[place] = step + 1
        place = (place * 2 + 1) % 5
    return m, place


@program(lambda: (np.arange(6.0),))
def a_scalar_store_and_a_scalar_read(a):
    total = 0.0
    for i in range(6):
        a[i] = a[i] * 2
        total = total + a[5 - i]
    return total, a


@program(lambda: (np.zeros(4), np.zeros(4)))
def chained_targets(a, b):
    a[0] = b[1] = c = 3.0
    a[1], b[2] = c + 1, a[0] + 5
    i = a[2] = 2
    b[i] = i
    return a, b, i
