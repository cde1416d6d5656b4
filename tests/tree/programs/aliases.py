"""Two names for one thing: arrays, lists and arguments that are the same or overlap."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


def _twice():
    a = np.arange(6.0)
    return a, a


def _shifted():
    a = np.arange(8.0)
    return a[:-1], a[1:]


def _row_and_matrix():
    m = np.arange(16.0).reshape(4, 4)
    return m, m[2]


def _row_and_column():
    m = np.arange(16.0).reshape(4, 4)
    return m[1], m[:, 1]


@program(lambda: (np.arange(5.0),))
def a_second_name(a):
    b = a
    b[0] = 7
    c = a * 2
    b += 1
    return a, b, c


@program(lambda: (np.arange(5.0),))
def a_second_name_and_a_new_array(a):
    b = a
    b = b + 1
    b[0] = 7
    return a, b


@program(_twice)
@program(_shifted)
@program(lambda: (np.arange(4.0), np.ones(4)))
def two_arguments(a, b):
    a[0] = 10.0
    c = b + 1
    b[1] = 20.0
    d = a * 2
    a += b
    return a, b, c, d


@program(_row_and_matrix)
def a_row_of_the_other_argument(m, row):
    row[:] = -1
    for i in range(4):
        m[i, 0] = row[i] + i
    s = m.sum()
    row += 1
    return s, m


@program(_row_and_column)
def crossing_views(row, column):
    row += 1
    column *= 2
    row[1] = 100
    x = column.sum()
    column[1] = 0
    return x, row.sum()


@program(_shifted)
def loop_over_shifted_views(a, b):
    for i in range(len(a)):
        a[i] = b[i] + i
    for i in range(len(b)):
        b[i] = a[i] * 2
    return a.copy(), b.copy()


@program(lambda: ([np.zeros(3), np.ones(3)],))
def arrays_in_a_list(xs):
    first = xs[0]
    first[1] = 5
    xs[1] = first
    xs[1][2] = 6
    xs.append(xs[0] + 1)
    return xs, first


@program(lambda: (np.arange(4.0),))
def one_array_three_times_in_a_list(a):
    xs = [a] * 3
    for i, x in enumerate(xs):
        x[i] += 10
    return xs


@program(lambda: (4,))
def rows_that_are_one_list(n):
    grid = [[0] * n] * 3
    grid[0][1] = 5
    other = [[0] * n for _ in range(3)]
    other[0][1] = 5
    return grid, other


@program(lambda: ({"w": np.zeros(3)},))
def an_array_in_a_dict(d):
    w = d["w"]
    d["w"] = d["w"] + 1
    w[0] = -1
    d["old"] = w
    w[1] = -2
    return d


@program(lambda: (np.arange(6.0), np.arange(6.0)[::-1].copy()))
def swapped_names(a, b):
    a, b = b, a
    a[0] = 100
    b[1] = 200
    for _ in range(3):
        a, b = b, a + b
    return a, b


@program(lambda: (np.arange(6.0).reshape(2, 3),))
def swapped_rows_through_views(m):
    m[0], m[1] = m[1], m[0]
    return m


@program(lambda: (np.arange(6.0).reshape(2, 3),))
def swapped_rows_through_a_copy(m):
    m[0], m[1] = m[1].copy(), m[0].copy()
    m[[0, 1]] = m[[1, 0]]
    return m


@program(lambda: (np.arange(5.0), 6))
def buffers_that_take_turns(a, n):
    now, then = a.copy(), np.zeros_like(a)
    for _ in range(n):
        then[1:-1] = (now[:-2] + now[2:]) / 2
        then[0], then[-1] = now[0], now[-1]
        now, then = then, now
    return now, then


@program(lambda: (np.arange(5.0),))
def the_argument_is_the_answer(a):
    b = a
    c = np.asarray(b)
    return c, a.view(), a[:]


@program(lambda: (np.arange(5.0),))
def sometimes_a_copy(a):
    b = a if a.sum() > 5 else a.copy()
    c = a if a.sum() > 50 else a.copy()
    b[0] = 1
    c[0] = 2
    return a, b, c


@program(lambda: (np.arange(6.0), [1, 3]))
def a_default_that_is_shared(a, places):
    def put(x, seen=[]):  # noqa: B006
        seen.append(x)
        a[places[len(seen) % 2]] = x
        return seen

    put(1.5)
    return put(2.5), a


@program(lambda: ([1, 2, 3],))
def a_list_grows_under_a_second_name(xs):
    ys = xs
    ys += [4]
    zs = xs + [5]  # noqa: RUF005
    ys = ys + [6]  # noqa: RUF005
    xs.append(7)
    return xs, ys, zs


@program(lambda: (np.arange(4.0), np.arange(4.0)))
def an_array_in_two_lists(a, b):
    left, right = [a, b], [b, a]
    for x, y in zip(left, right, strict=True):
        x[0] += y[1] + 1
    left[0] += 1
    return left, right


@program(lambda: (np.arange(8.0),))
def halves_by_split(a):
    left, right = np.split(a, 2)
    left += right
    right *= left
    return a


@program(lambda: (np.arange(8.0),))
def out_arguments(a):
    b = np.empty_like(a)
    np.multiply(a, 2, out=b)
    np.add(b, a, out=a)
    c = np.subtract(a, b, out=b)
    c[0] = -5
    return a, b, c
