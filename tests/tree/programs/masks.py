"""Masks: stores and reads through boolean arrays, where, choose, and masks of what is being changed."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


def _wave(n=9):
    return np.sin(np.arange(float(n)) * 1.7)


@program(lambda: (_wave(),))
def negatives_to_zero(a):
    a[a < 0] = 0
    b = a[a > 0.5]
    a[a > 0.5] *= 2
    return a, b


@program(lambda: (_wave(),))
def a_mask_taken_before_the_change(a):
    mask = a > 0
    a -= 0.5
    a[mask] += 10
    a[~mask] = a[mask].max()
    return a, mask


@program(lambda: (_wave(), np.arange(9.0)))
def where_and_select(a, b):
    c = np.where(a > 0, a, b)
    d = np.select([a < -0.5, a > 0.5], [b, -b], default=7)
    i = np.where(a > 0)[0]
    a[i] = b[i] * 2
    return a, c, d, i


@program(lambda: (_wave(12).reshape(3, 4),))
def masks_of_rows_and_columns(m):
    m[m.sum(axis=1) > 0] += 1
    m[:, m.min(axis=0) < 0] *= -1
    m[np.isfinite(m) & (m > 1)] = 1
    return m


@program(lambda: (_wave(),))
def a_mask_that_is_too_short(a):
    b = a + 1
    a[np.array([True, False])] = 0
    return a, b


@program(lambda: (_wave(), np.zeros(9)))
def masked_ufuncs(a, out):
    mask = a > 0
    np.sqrt(a, where=mask, out=out)
    total = a.sum(where=~mask)
    np.putmask(a, mask, -a)
    np.copyto(a, 3.0, where=out > 0.9)
    return a, out, total


@program(lambda: (_wave(16).reshape(4, 4),))
def triangles(m):
    low = np.tril_indices(4, -1)
    m[low] = m.T[low]
    m[np.triu_indices(4, 1)] *= 2
    np.fill_diagonal(m, 1)
    return m


@program(lambda: (_wave(),))
def a_mask_in_a_loop(a):
    counts = []
    for level in (0.8, 0.4, 0.0):
        high = a > level
        counts.append(int(high.sum()))
        a[high] = level
    return a, counts


@program(lambda: (np.ma.masked_less(_wave(), 0.0),))
def masked_arrays(a):
    b = a + 1
    a[0] = np.ma.masked
    c = a.mean()
    b[b > 1.5] = np.ma.masked
    return a, b, c, b.filled(-1)
