"""Views: slices, transposes, reshapes, reversed arrays and what stores through them change."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


def _square(n=4):
    return np.arange(float(n * n)).reshape(n, n)


@program(lambda: (np.arange(10.0),))
def negative_steps(a):
    b = a[::-1]
    b[0] = 100
    c = a[7:2:-2]
    c += 1
    d = a[-1:-11:-3].copy()
    return a, b, c, d


@program(lambda: (_square(),))
def a_view_of_a_view(m):
    a = m[1:]
    b = a[:, 1:3]
    c = b.T
    c[0] = -1
    a[0, 2] = -2
    return m, a, b, c


@program(lambda: (_square(),))
def flat_and_ravel(m):
    flat = m.ravel()
    flat[5] = 50
    copy = m.T.ravel()
    copy[6] = 60
    again = m.reshape(2, 8)
    again[1, 1] = 70
    return m, copy


@program(lambda: (_square(),))
def a_diagonal_cannot_be_stored_into(m):
    d = m.diagonal()
    m[2, 2] = 5
    seen = d[2]
    try:
        d[0] = 1
    except ValueError as error:
        return seen, str(error), d
    return None


@program(lambda: (np.arange(6, dtype=np.int64),))
def the_same_bytes_as_floats(a):
    f = a.view(np.float64)
    a[0] = 4607182418800017408
    g = f[0] + 1
    f[1] = 2.0
    return a, g


@program(lambda: (np.arange(4.0) + 1j,))
def real_and_imaginary_parts(z):
    re, im = z.real, z.imag
    re[0] = 10
    im[:] = -im
    z *= 2
    return z, re.copy()


@program(lambda: (_square(),))
def broadcast_views(m):
    wide = np.broadcast_to(m[0], (3, 4))
    m[0, 0] = 42
    total = wide.sum()
    m[0] += 1
    return total, wide.copy()


@program(lambda: (np.arange(12.0),))
def sliding_windows(a):
    w = np.lib.stride_tricks.sliding_window_view(a, 3)
    before = w.mean(axis=1)
    a[4] = 100
    after = w.mean(axis=1)
    return before, after


@program(lambda: (_square(),))
def swapaxes_and_squeeze(m):
    t = m.swapaxes(0, 1)
    t[0, 3] = 9
    row = m[None, 1].squeeze()
    row[0] = 8
    column = np.expand_dims(m[:, 2], 1)
    column[1:3] = 7
    return m


@program(lambda: (_square(), 3))
def views_made_in_a_loop(m, n):
    rows = [m[i] for i in range(n)]
    for i, row in enumerate(rows):
        row += i
        m[:, i] -= 1
    return rows, m


@program(lambda: (_square(),))
def iterating_gives_views(m):
    for row in m:
        row[0] = row.sum()
    for column in m.T:
        column[1] = column.max()
    return m


@program(lambda: (_square(6),))
def windows_over_windows(m):
    left, right = m[:, :4], m[:, 2:]
    left += 1
    right *= 2
    left[:] = right
    return m


@program(lambda: (_square(), slice(1, 3)))
def a_slice_object(m, part):
    m[part, part] = 0
    m[part] += m[:, part].T
    m[(part, 0)] = -3
    return m


@program(lambda: (_square(),))
def a_fancy_read_is_a_copy(m):
    rows = m[[0, 2]]
    rows[0] = -1
    m[[0, 2]] += 10
    masked = m[m > 10]
    masked[:] = 0
    return m, rows, masked


@program(lambda: (np.arange(3.0), np.arange(3.0)))
def a_view_outlives_its_name(a, b):
    v = a[1:]
    a = b
    v[0] = 9
    a[0] = 8
    return v, a, b


@program(lambda: (_square(),))
def read_only_flags(m):
    v = m[1]
    v.flags.writeable = False
    m[1, 0] = 5
    try:
        v[1] = 6
    except ValueError as error:
        print(error)
    return v, m
