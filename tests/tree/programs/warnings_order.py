"""Warnings: their order among one another and among printed lines, with the user's line."""

from __future__ import annotations

import warnings

import numpy as np
from tree.programs.runner.program import program


def _signed():
    return np.array([4.0, 0.0, -1.0, np.inf])


def _outdated(x):
    warnings.warn("use another", DeprecationWarning, stacklevel=2)
    return x


def _logged(x):
    return np.log(x)


@program(lambda: (_signed(), _signed()))
def several_statements(a, b):
    c = 1 / a
    d = np.sqrt(b)
    e = np.log(a)
    f = a * np.inf
    return c, d, e, f


@program(lambda: (np.arange(3.0),))
def in_a_loop(a):
    out = np.zeros((4, 3))
    for i in range(4):
        out[i] = (a - i) / (a - 1)
    return out


@program(lambda: (_signed(),))
def between_printed_lines(a):
    print("start")
    b = np.sqrt(a)
    print("one", b)
    c = np.log(a)
    print("two", c)
    return b + c


@program(lambda: (_signed(),))
def of_the_user(a):
    b = a + 1
    warnings.warn("mine", UserWarning, stacklevel=1)
    c = np.sqrt(a)
    d = _outdated(c)
    return b, c, d


@program(lambda: (_signed(),))
def before_an_error(a):
    b = np.log(a)
    c = np.sqrt(a)
    d = b + np.ones(9)
    e = 1 / a
    return c, d, e


@program(lambda: (np.array([100, 120], dtype=np.int8), np.float32(3e38)))
def overflow(small, large):
    a = small + small
    b = large * np.float32(10)
    c = np.exp(np.float64(1000.0))
    d = np.int64(2**62) * np.int64(4)
    return a, b, c, d


@program(lambda: (_signed(),))
def in_a_helper(a):
    b = _logged(a)
    c = _logged(-a)
    return b, c, [_logged(x) for x in a]


@program(lambda: (_signed(),))
def in_a_comprehension(a):
    return [np.sqrt(a - i).sum() for i in range(3)], np.mean([])


@program(lambda: (_signed(),))
def caught_by_the_program(a):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        b = np.sqrt(a)
        c = 1 / a
    d = np.log(a)
    return b, c, d, [str(w.message) for w in seen]


@program(lambda: (_signed(),))
def turned_into_errors(a):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a[0] = 2
        try:
            np.sqrt(a)
        except RuntimeWarning as error:
            a[1] = 3
            return a, str(error)
    return None


@program(lambda: (np.array([1.0, 0.0]), np.zeros(2)))
def in_a_store(a, b):
    b[:] = 1 / a
    a[:] = np.sqrt(-a)
    b += np.log(b - b)
    b /= 0
    return a, b


@program(lambda: (np.arange(3.0),))
def error_state_for_the_rest(a):
    b = 1 / a
    np.seterr(divide="ignore")
    c = 1 / a
    np.seterr(divide="warn", invalid="ignore")
    d = a / (a - a)
    return b, c, d


@program(lambda: (np.arange(4.0) - 1,))
def while_it_warns(a):
    n = 0
    while not np.isnan(np.sqrt(a)).all():
        a = a - 1
        n += 1
    return n


@program(lambda: (np.arange(4, dtype=np.int64),))
def integer_division(n):
    a = 10 // n
    b = n % 0
    c = np.array([1.0, np.nan, 2.0]).astype(np.int64)[0]
    return a, b, c


@program(lambda: (np.arange(4.0),))
def of_python_and_of_numpy_in_one_statement(a):
    b = np.mean(a[:0])
    return b, a + 1
