"""Containers that come to hold other things than before, seen through a second name."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


def _slow(x=1.0):
    return np.sort(np.sin(np.arange(10000.0) * x))[-4:]


@program(lambda: ([0, 0], np.zeros(4)))
def numbers_become_arrays(xs, a):
    ys = xs
    xs[0] = a
    b = ys[0]
    a[:] = _slow()
    c = b + 1
    b[1] = 9
    d = a * 2
    return c, d, ys


@program(lambda: ([0], np.zeros(4)))
def arrays_are_appended(xs, a):
    ys = [xs, [1]]
    xs.append(a)
    a[:] = _slow()
    c = ys[0][-1] + 1
    ys[0][1][0] = 9
    return c, a + 1


@program(lambda: ({"n": 0}, np.zeros(4)))
def a_dict_gets_an_array(d, a):
    e = d
    d["n"] = a
    a[:] = _slow()
    b = e["n"] * 2
    e["m"] = [a]
    d["m"][0][0] = 5
    c = a.sum()
    return b, c, d


@program(lambda: ([1.0, 2.0], np.zeros(4)))
def a_list_in_a_tuple(xs, a):
    pair = (xs, 3)
    xs[1] = a
    inner = pair[0]
    a[:] = _slow()
    b = inner[1] + 1
    return b  # noqa: RET504


@program(lambda: ([np.zeros(4)], np.ones(4)))
def arrays_become_strings(xs, a):
    ys = xs
    xs[0] = "text"
    b = ys[0] * 2
    xs[0] = a
    xs.append("more")
    ys[0][:] = _slow()
    return b, a + 1, ys


@program(lambda: ([], np.zeros(4)))
def an_empty_list_fills(xs, a):
    ys = xs
    for i in range(3):
        xs.append(a[i:])
    a[:] = _slow()
    total = sum(y.sum() for y in ys)
    ys[2][0] = 7
    return total, a[2]


@program(lambda: ([[], []], np.zeros(4)))
def rows_of_an_empty_table(table, a):
    row = table[1]
    table[1].append(a)
    a[:] = _slow()
    x = row[0].sum()
    row[0][0] = 3
    table[0] = row
    y = table[0][0][0] + a[0]
    return x, y


@program(lambda: ({}, 40))
def a_table_grows_while_it_is_looked_at(table, n):
    other = table
    for i in range(n):
        table[i] = [float(i)]
        other[i].append(i)
        size = len(other)
    return size, table


@program(lambda: ([0, 1], np.zeros(4)))
def a_variable_of_many_kinds(xs, a):
    x = 1
    for i in range(5):
        y = x
        x = a if i == 1 else xs if i == 2 else "s" if i == 3 else 2.5
        if i == 2:
            x.append(a)
        if i == 1:
            x[:] = _slow()
    return y, x, xs[-1] + 1
