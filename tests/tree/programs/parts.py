"""Loops and comprehensions that could be cut in parts, and what must not be lost when they are."""

from __future__ import annotations

import builtins

import numpy as np
from tree.programs.runner.program import program

GRID = np.arange(24.0).reshape(6, 4)
SIZES = np.arange(6)


def _slow(x=1.0):
    return np.sort(np.sin(np.arange(4000.0) * x))[-4:]


def _bumped(k):
    k += 1
    return k


def _row_before(i, grid=GRID):
    return grid[i - 1] + 1


def _of_grid(i):
    return GRID[i - 1].sum()


def _grid():
    GRID[:] = np.arange(24.0).reshape(6, 4)
    return (GRID,)


def max(items):  # noqa: A001
    return type(items).__name__, builtins.max(items)


def _rows(n=8):
    return np.arange(float(n * 4)).reshape(n, 4)


@program(lambda: (_rows(),))
def a_name_bound_in_one_iteration(m):
    t = u = -1
    for i in range(8):
        if i == 1:
            t = i * 10
        if m[i, 0] == 12:
            u = m[i].copy()
        m[i] = np.sin(m[i])
    return t, u, i, m


@program(lambda: (_rows(),))
def a_name_that_is_never_bound(m):
    for i in range(8):
        if m[i, 0] < 0:
            t = i
        m[i] = np.cos(m[i])
    return m, t


@program(lambda: (_rows(), 0.0))
def sums_that_are_carried(m, total):
    before = None
    for i in range(8):
        m[i] = np.sin(m[i])
        total += m[i].sum()
        m[i, 0] = total
        before, last = m[i], before
    return total, before, last, m


@program(lambda: (_rows(), []))
def lists_that_grow(m, log):
    for i in range(8):
        m[i] = _slow(i + 1.0)
        log.append(m[i].max())
    return log


@program(lambda: (_rows(6), np.random.default_rng(0)))
def orders_that_are_drawn(m, rng):
    for i in rng.permutation(6):
        m[i] = np.sin(m[i]) * 2
    a = [x * 2 for x in rng.permutation(6)]
    b = [x * 2 for x in rng.normal(size=1)]
    c = [x + 1 for x in np.random.permutation(5)]
    for i in range(rng.integers(2, 6)):
        m[i] = np.cos(m[i])
    return a, b, c, m


@program(lambda: (np.arange(6), _rows(6)))
def what_is_iterated_over_has_effects(k, m):
    a = [i * 2 for i in _bumped(k)]
    b = [i * 2 for i in _bumped(k[:1])]
    for i in range(int(_bumped(k)[0])):
        m[i] = np.sin(m[i])
    return a, b, k, m


@program(lambda: (np.arange(6.0),))
def functions_with_work_in_them(a):
    late = [lambda: i + 1 for i in range(6)]  # noqa: B023
    arrays = [lambda: a * i for i in range(6)]  # noqa: B023
    early = [lambda i=i: a[i] * 2 for i in range(6)]
    return [f() for f in late], [f() for f in arrays], [f() for f in early]


@program(lambda: (np.arange(6.0),))
def a_generator_is_not_a_list(a):
    return max(x * 2 for x in a), max([x * 2 for x in a])


@program(_grid)
def an_argument_that_a_helper_knows(m):
    for i in range(6):
        m[i] = _row_before(i) * 0.5
    return m


@program(_grid)
def an_argument_that_is_a_global(m):
    for i in range(6):
        m[i] = _of_grid(i) * 0.5
    return m


@program(lambda: (np.array([0.0, 1.0, -1.0, 4.0] * 6).reshape(6, 4), np.zeros((6, 4))))
def two_lines_that_warn(m, n):
    for i in range(6):
        m[i] = np.log(m[i])
        n[i] = np.sqrt(m[i] - 1)
    return m, n


@program(lambda: (np.arange(6.0),))
def warnings_of_python(a):
    xs = [np.mean(a[i:i]) + i for i in range(4)]
    ys = [np.var(a[:i], ddof=1) for i in range(4)]
    return xs, ys


@program(lambda: (np.array([0.0, 1.0, -1.0, 4.0] * 6).reshape(6, 4),))
def an_error_state_of_the_user(m):
    np.seterr(divide="ignore", invalid="call")
    np.seterrcall(lambda kind, flag: print(kind))
    for i in range(6):
        m[i] = np.sqrt(np.log(m[i]))
    out = [1 / row for row in m]
    np.seterrcall(None)
    return m, out


@program(lambda: (_rows(),))
def a_part_that_fails(m):
    for i in range(8):
        m[i] = np.sin(m[i]) / (5 - i if i != 5 else 0 // 1 or int("x"))
    return m


@program(lambda: (_rows(), [3, 2, 1, 0, 5]))
def an_element_that_fails(m, places):
    try:
        return [np.sin(m[p]) / (10 // p) for p in places]
    except ZeroDivisionError as error:
        return str(error), m


@program(lambda: (_rows(), [3, 2, 1, 0, 5]))
def an_element_that_fails_outside_of_a_try(m, places):
    m[0] = 5
    out = [np.sin(m[p]) / (10 // p) for p in places]
    m[1] = 5
    return out


@program(lambda: (_rows(),))
def neighbours_by_another_name(m):
    up = m[1:]
    for i in range(7):
        m[i] = np.sin(up[i]) + 1
    down = m[::-1]
    for i in range(8):
        down[i] = m[i] * 2
    return m


@program(lambda: (_rows(),))
def the_index_is_shifted_inside(m):
    for i in range(7):
        j = i + 1
        m[j] = m[i] + np.sin(m[j])
    for i in range(0, 8, 2):
        m[i] = m[i + 1] * 2
        m[i + 1] = m[i] - 1
    for i in range(7, -1, -1):
        m[i] = m[i] + m[0]
    return m


@program(lambda: (_rows(), np.zeros(8)))
def rows_and_a_column(m, v):
    for i in range(8):
        v[i] = np.sin(m[i]).sum()
        m[i, 1:] = v[i] + m[i, :-1]
    for i in range(4):
        m[:, i] = v * i
        m[i, :] += 1
    return m, v


@program(lambda: (_rows(),))
def the_target_is_bound_again(m):
    for i in range(8):
        m[i] = np.sin(m[i])
        i = 7 - i
        m[i] = m[i] * 2
    return m, i


@program(lambda: (_rows(), 3))
def loops_inside_of_loops(m, n):
    out = np.zeros((8, 4))
    for i in range(8):
        for j in range(4):
            x = m[i, j]
            k = 0
            while x > 1 and k < n:
                x = x / 2
                k += 1
            out[i, j] = x + k
    return out, x, k, j


@program(lambda: (_rows(),))
def nothing_to_cut(m):
    for i in range(0):
        m[i] = np.sin(m[i])
    for i in range(1):
        m[i] = np.cos(m[i])
    return m, i, [np.sin(x) for x in m[:0]], sum(x.sum() for x in m[:1])


@program(lambda: (_rows(), SIZES), touches=("SIZES",))
def sums_of_generators(m, sizes):
    a = sum(np.sin(row).sum() * k for row, k in zip(m, sizes, strict=False))
    b = sum(np.sin(m[i]).sum() for i in range(8))
    c = sorted(float(np.cos(row).sum()) for row in m)
    d = set(int(k) % 3 for k in sizes)  # noqa: C401
    e = tuple(np.sin(row) + a for row in m if row[0] > 4)
    return a, b, c, d, e, min(float(x) * -1 for x in m[0])
