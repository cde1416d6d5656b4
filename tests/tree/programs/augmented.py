"""Augmented assignment: in place for arrays and lists, new objects for numbers, strings and tuples."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


@program(lambda: (np.arange(5.0),))
def in_place_and_not(a):
    b = a
    a += 1
    a = a + 1
    a -= 0.5
    return a, b


@program(lambda: (np.arange(1.0, 6.0), np.arange(1, 6)))
def every_operator(a, n):
    b = a.copy()
    a *= 2
    a /= 3
    a //= 0.5
    a %= 1.25
    a **= 2
    n <<= 2
    n >>= 1
    n |= 1
    n &= 6
    n ^= 3
    b @= np.eye(5)
    return a, b, n


@program(lambda: (np.arange(5),))
def an_integer_array_cannot_hold_halves(a):
    a += 1
    a += 0.5
    return a


@program(lambda: (np.arange(6.0).reshape(2, 3),))
def rows_and_elements(m):
    m[0] += m[1]
    m[1][2] *= 3
    m[:, 1] -= m[:, 0]
    m[0, 0] **= 2
    return m


@program(lambda: (3, 2.5, "ab", (1,), [1]))
def numbers_strings_tuples_lists(i, x, s, t, xs):
    before = (i, x, s, t, xs)
    i += 2
    x *= i
    s += "c" * i
    t += (2,)
    xs += (2, 3)
    xs *= 2
    return before, i, x, s, t, xs


@program(lambda: ({"a": 1, "b": [2]},))
def items_and_attributes(d):
    d["a"] += 5
    d["b"] += [3]

    class Box:
        pass

    box = Box()
    box.x = np.zeros(2)
    alias = box.x
    box.x += 1
    box.x = box.x + 1
    return d, alias, box.x


@program(lambda: (([1, 2], 3),))
def a_list_in_a_tuple_changes_and_raises(t):
    t[0] += [4]
    return t


@program(lambda: (np.zeros(3),))
def the_index_is_found_once(a):
    calls = []

    def place():
        calls.append(len(calls))
        return len(calls)

    a[place()] += 5
    a[place()] -= 1
    return a, calls


@program(lambda: (np.arange(4.0), np.arange(4.0)))
def sums_in_two_chains(a, b):
    x = y = 0.0
    for i in range(4):
        x += a[i]
        y -= b[i] * x
    a += y
    b += x
    return a, b, x, y


@program(lambda: (np.arange(6.0), np.arange(2.0)))
def a_shape_that_does_not_fit(a, b):
    a += 1
    a += b
    return a


@program(lambda: (np.float64(1.5), np.arange(3.0)))
def a_scalar_is_not_changed_in_place(s, a):
    t = s
    s += 1
    u = a[1]
    u += 10
    return s, t, u, a
