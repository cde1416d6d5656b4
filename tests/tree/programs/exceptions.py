"""Exceptions: the first in program order, with its line, its cause, and nothing later left behind."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


class Refused(Exception):
    """An exception of the user's with facts of its own."""

    def __init__(self, what, count):
        super().__init__(f"refused {what}")
        self.what, self.count = what, count


def _checked(x):
    if np.any(x > 5):
        raise Refused("large", int(np.sum(x > 5)))
    return x


@program(lambda: (np.arange(4000.0), np.arange(3.0)))
def the_second_fails_while_the_first_is_slow(a, b):
    c = np.sort(np.sin(np.outer(a[:300], a[:300])), axis=None)
    d = b + np.ones(4)
    b[:] = 9
    return c, d


@program(lambda: (np.arange(400.0), np.arange(3.0)))
def both_fail(a, b):
    c = np.outer(np.sin(a), a) @ np.ones(3)
    d = b[10]
    return c, d


@program(lambda: (np.ones((8, 3)),))
def the_fifth_iteration(m):
    for i in range(8):
        m[i] = 10 // (5 - i)
    m[:] = 0


@program(lambda: (np.ones((8, 3)), np.arange(8)))
def iteration_five_reads_out_of_bounds(m, places):
    places[5] = 99
    for i in range(8):
        m[i] = m[places[i]] * 2 + i


@program(lambda: (np.ones((8, 3)), [np.zeros(3)] * 4 + [np.zeros(2)] + [np.zeros(3)] * 3))
def iteration_four_does_not_broadcast(m, xs):
    for i in range(8):
        m[i] = xs[i] + m[i]


@program(lambda: (np.arange(4.0), np.arange(5.0)))
def shapes_do_not_broadcast(a, b):
    c = a * 2
    d = b * 2
    e = c + d
    a[:] = 0
    return e


@program(lambda: (np.zeros((3, 4)), np.zeros((3, 4))))
def a_matmul_that_does_not_fit(a, b):
    a += 1
    c = a @ b
    a += 1
    return c


@program(lambda: (0,))
def division_in_the_middle(n):
    x = 1
    y = x / n
    z = x + 1
    return y, z


@program(lambda: (np.arange(9.0),))
def an_exception_of_the_user(a):
    b = _checked(a[:3])
    a[0] = 1
    c = _checked(a)
    a[1] = 100
    return b, c


@program(lambda: ({},))
def a_cause(d):
    try:
        d["x"]
    except KeyError as error:
        raise ValueError("no x") from error


@program(lambda: ({},))
def a_hidden_context(d):
    try:
        d["x"]
    except KeyError:
        raise ValueError("no x") from None


@program(lambda: (np.zeros(2),))
def a_context(a):
    try:
        a[5] = 1
    except IndexError:
        a[0] = 1
        undefined_name  # noqa: F821, B018


@program(lambda: (1,))
def an_unbound_local(n):
    if n > 5:
        x = 1
    y = n + 1
    return x + y


@program(lambda: (1,))
def used_before_it_is_bound(n):
    a = np.zeros(3)
    a[0] = total  # noqa: F821
    total = n
    return a, total


@program(lambda: (np.zeros(3),))
def a_missing_attribute(a):
    a[0] = 1
    b = a.nothing
    a[1] = 1
    return b


@program(lambda: (np.zeros(3),))
def a_type_error(a):
    a[0] = 1
    b = a + "x"
    a[1] = 1
    return b


@program(lambda: (3,))
def a_note(n):
    try:
        raise ValueError(n)
    except ValueError as error:
        error.add_note("seen on the way")
        raise


@program(lambda: (np.zeros(3),))
def leaving_the_interpreter(a):
    a[0] = 1
    raise SystemExit(3)


@program(lambda: (np.zeros(3),))
def interrupted_by_itself(a):
    a[0] = 1
    b = a + 1
    raise KeyboardInterrupt(b.sum())


@program(lambda: (np.zeros((2, 2)), np.ones(2)))
def a_singular_matrix(m, v):
    m[0] = 1
    x = np.linalg.solve(m, v)
    m[1] = 1
    return x


@program(lambda: (np.arange(4.0),))
def stop_iteration(a):
    it = iter(a)
    for _ in range(6):
        a[0] += next(it)
    return a


@program(lambda: (np.arange(6.0).reshape(2, 3),))
def an_error_on_a_long_line(m):
    return (
        m.sum(axis=0)
        + m.mean()
        + m[
            5,
            0,
        ]
    )


@program(lambda: (2,))
def an_assertion(n):
    a = np.arange(4.0)
    assert n == 2, "never"
    a[0] = 5
    assert a.sum() < n, f"the sum is {a.sum()}"
    return a


@program(lambda: (np.arange(4.0),))
def an_array_has_no_truth(a):
    b = a + 1
    if a > 2:
        b[0] = 1
    return b


@program(lambda: (5,))
def an_exception_as_a_value(n):
    error = ValueError("kept", n)
    kept = [error]
    try:
        raise error
    except ValueError as same:
        return same is error, kept[0].args
