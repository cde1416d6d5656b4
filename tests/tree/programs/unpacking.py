"""Unpacking: tuples, stars, nested targets, swaps, and what happens when the number is wrong."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


@program(lambda: (np.arange(6.0).reshape(3, 2),))
def rows_and_pairs(m):
    a, b, c = m
    a[0] = 10
    (x, y), *rest = m
    return a, b, c, x, y, rest


@program(lambda: ([1, 2, 3, 4, 5],))
def stars(xs):
    first, *middle, last = xs
    *start, end = "abc"
    (p, *q), r = [(1, 2, 3), 4]
    middle.append(last)
    return first, middle, last, start, end, p, q, r, xs


@program(lambda: (1, 2, 3))
def rotations(a, b, c):
    a, b, c = b, c, a
    a, b = b, a
    (a, c), b = (c, a), b + 10
    return a, b, c


@program(lambda: (np.arange(5.0),))
def targets_are_stored_from_the_left(a):
    i = 0
    i, a[i] = 3, 100.0
    a[0], a[1] = a[1], a[0]
    xs = [0, 0]
    i = 0
    i = xs[i] = 1
    return a, i, xs


@program(lambda: ((1, 2, 3),))
def too_many_values(t):
    a = 1
    a, b = t
    return a, b


@program(lambda: ((1,),))
def too_few_values(t):
    a = np.zeros(2)
    a[0], a[1], *rest = t
    return a, rest


@program(lambda: (5,))
def a_number_cannot_be_unpacked(n):
    x, y = n
    return x, y


@program(lambda: (np.arange(6.0),))
def unpacked_results(a):
    low, high = a.min(), a.max()
    q, r = divmod(17, 5)
    values, counts = np.unique(a // 2, return_counts=True)
    u, s, vt = np.linalg.svd(a.reshape(2, 3), full_matrices=False)
    return low, high, q, r, values, counts, s, (u * s) @ vt


@program(lambda: (8,))
def fibonacci_by_swaps(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@program(lambda: ({"x": 1, "y": 2},))
def displays_with_stars(d):
    xs = [*d, *d.values(), *"ab"]
    t = (*xs, 5)
    merged = {**d, "z": 3, **{"x": 9}}  # noqa: PIE800
    s = {*xs, 1}
    return xs, t, merged, len(s)


@program(lambda: (iter([1, 2, 3, 4]),))
def an_iterator_is_used_up(it):
    a, b = next(it), next(it)
    (c, d) = it
    return a, b, c, d, next(it, "end")
