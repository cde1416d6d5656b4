"""Early returns: out of loops, branches, try and with blocks, and functions that return nothing."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


@program(lambda: (np.arange(8.0), 4.5))
@program(lambda: (np.arange(8.0), 100.0))
def out_of_a_loop(a, level):
    for i in range(len(a)):
        a[i] *= 2
        if a[i] > level:
            return i, a
        a[i] += 1
    return None, a


@program(lambda: (np.arange(16.0).reshape(4, 4), 9.0))
def out_of_two_loops(m, wanted):
    for i in range(4):
        m[i] += 1
        for j in range(4):
            if m[i, j] == wanted:
                return i, j
            m[i, j] = -m[i, j]
    return None


@program(lambda: (np.zeros(3),))
def nothing(a):
    a[1] = 5


@program(lambda: (np.zeros(3), True))
@program(lambda: (np.zeros(3), False))
def in_one_branch(a, early):
    a[0] = 1
    if early:
        return a
    a[1] = 2
    b = a + 1
    return b  # noqa: RET504


@program(lambda: (np.arange(5.0),))
def stores_after_a_return_never_happen(a):
    for i in range(5):
        a[i] = -1
        if i == 2:
            return a.sum()
    a[:] = 100
    return 0


@program(lambda: (3,))
@program(lambda: (-3,))
@program(lambda: (0,))
def one_of_three(n):
    if n > 0:
        return "positive"
    elif n < 0:  # noqa: RET505
        return "negative"
    else:
        return "zero"


@program(lambda: (np.arange(4.0),))
def many_values(a):
    b = a * 2
    c = b
    return a, b, c, a[1:], (a, b), [c], {"a": a}, a.sum(), None


@program(lambda: ([3, 1, 2],))
def a_value_and_then_a_change(xs):
    def first():
        try:
            return xs[0]
        finally:
            xs[0] = 9

    return first(), xs


@program(lambda: (np.arange(3.0),))
def while_true(a):
    n = 0
    while True:
        a *= 1.5
        n += 1
        if a.max() > 20:
            return n, a


@program(lambda: (np.eye(3), np.ones(3)))
def return_a_long_expression(m, v):
    return (m @ v).sum() + np.linalg.norm(m) * len(v) if v.any() else None
