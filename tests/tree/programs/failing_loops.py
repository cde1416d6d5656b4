"""Loops and branches that fail by themselves, while what they issued before is still under way."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


def _slow(x=1.0):
    return np.sort(np.sin(np.arange(10000.0) * x))[-4:]


@program(lambda: (np.zeros(4),))
def an_element_that_cannot_be_unpacked(a):
    for x, y in [(1, 2), (3, 4), (5,)]:
        a[:] = _slow(x) * y
    return a


@program(lambda: (np.zeros(4), [(1, 2), 3]))
def an_element_that_is_a_number(a, pairs):
    for x, y in pairs:
        a[x] = _slow()[0]
        a[y] += a[x]
    return a


@program(lambda: (np.zeros(4), {"a": 1, "b": 2}))
def a_dict_that_grows_under_the_loop(a, d):
    for key in d:
        a[:] = _slow()
        d[key * 2] = 1
    return a


@program(lambda: (np.zeros(4), np.ones(3)))
def an_earlier_failure_wins(a, b):
    c = np.outer(_slow(), _slow()) @ b
    for x, y in [(1,)]:
        a[0] = x + y
    return c


@program(lambda: (np.zeros(4), np.ones(3)))
def an_earlier_failure_wins_over_a_raise(a, b):
    c = np.outer(_slow(), _slow()) @ b
    raise ValueError(f"later {a[0]}")
    return c


@program(lambda: (np.zeros(4), None))
def a_loop_over_nothing(a, xs):
    a[:] = _slow()
    for x in xs:
        a[0] = x
    return a


@program(lambda: (np.zeros(4), np.arange(3.0)))
def a_condition_that_fails(a, b):
    a[:] = _slow()
    while b > 1:
        a[0] = 5
    return a


@program(lambda: (np.zeros(4),))
def a_return_that_fails(a):
    a[:] = _slow()
    b = a * 2
    return a + b[:3]


@program(lambda: (np.zeros((6, 4)),))
def rows_and_then_a_missing_name(m):
    for i in range(6):
        m[i] = _slow(i + 1.0)
    m[0] = nowhere  # noqa: F821
    return m


@program(lambda: (np.zeros((6, 4)), [1, 2, 0, 4, 5, 6]))
def a_row_in_the_middle_fails_late(m, divisors):
    for i in range(6):
        m[i] = _slow(i + 1.0) * (10 // divisors[i])
    m[:] = -1
    return m


@program(lambda: (np.zeros((6, 4)), np.arange(6.0)))
def everything_after_the_failure_is_taken_back(m, log):
    total = []
    for i in range(6):
        m[i] = _slow(i + 1.0)
        log[i] = m[i].sum()
        total.append(log[i])
        if i == 3:
            m[:, i] = np.ones(5)
    return total


@program(lambda: ([np.zeros(4) for _ in range(4)], {}, {1}))
def containers_are_put_back(xs, table, seen):
    a = _slow() @ np.ones((4, 2))
    b = a + xs[0]
    xs.append(b)
    xs[0] = None
    table["x"] = 1
    seen.add(5)
    xs.clear()
    return b


@program(lambda: (np.random.default_rng(1), np.zeros(4)))
def a_generator_is_put_back(rng, a):
    x = rng.normal(size=4)
    y = np.outer(_slow(), x) @ np.ones(3)
    z = rng.normal(size=4)
    np.random.seed(5)
    a += np.random.rand(4)
    return y, z


@program(lambda: (np.zeros(4), np.array([1.0, 0.0, 2.0, 3.0])))
def warnings_after_the_failure_are_not_heard(a, b):
    c = np.log(b)
    d = np.outer(_slow(), b) @ np.ones(3)
    e = np.sqrt(-b)
    f = np.mean([])
    a[:] = 1 / b
    return c, d, e, f


@program(lambda: (np.zeros(4),))
def a_failure_seen_by_a_try(a):
    log = []
    for i in range(4):
        try:
            a[i] = _slow(1.0)[i]
            a[i + 2] = i
        except IndexError as error:
            log.append((i, str(error)))
    a[:] = _slow() + a
    return a, log


@program(lambda: (np.zeros(4), 0))
def a_break_after_work_that_fails(a, n):
    for i in range(4):
        a[:] = _slow(i + 1.0)
        b = a[:3] + a
        if n == 0:
            break
    return b


@program(lambda: (np.arange(4.0),))
def an_in_place_failure_half_way(a):
    xs = [a, a[:2], "x"]
    for x in xs:
        x += 1
        a[3] += _slow()[0]
    return a
