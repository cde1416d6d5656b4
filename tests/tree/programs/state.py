"""State that is not in the variables: attributes of functions and modules, defaults, globals that are arguments too."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from tree.programs.runner.program import program

CONFIG = SimpleNamespace(scale=2.0, table=np.zeros(4))
GRID = np.zeros(4)
ROWS = [np.zeros(4), np.ones(4)]
LIMIT = 10.0


def _slow(x=1.0):
    return np.sort(np.sin(np.arange(10000.0) * x))[-4:]


def _rescale(by):
    CONFIG.scale *= by


def _counted(x):
    _counted.calls = getattr(_counted, "calls", 0) + 1
    return x * 2


def _grid():
    return GRID


def _row(i):
    return ROWS[i]


def _bump_rows():
    for row in ROWS:
        row += 1


def _limited(a):
    return np.minimum(a, LIMIT)


@program(lambda: (np.ones(4),), touches=("CONFIG",))
def an_object_of_the_module(a):
    b = a * CONFIG.scale
    _rescale(3)
    c = a * CONFIG.scale
    CONFIG.table[:] = _slow()
    d = CONFIG.table + 1
    CONFIG.scale = 5
    return b, c, d


@program(lambda: (np.ones(4),), helpers=("_counted",))
def attributes_of_a_function(a):
    _counted.calls = 0
    b = _counted(a)
    c = b * _counted.calls
    _counted(c)
    return b, c, _counted.calls


@program(lambda: (np.ones(4),), touches=("GRID",))
def an_array_of_the_module(a):
    GRID[:] = _slow()
    b = _grid() + 1
    _grid()[0] = 9
    c = GRID * a
    g = GRID
    g += _slow()
    return b, c, _grid().sum()


@program(lambda: (np.ones(4),), touches=("ROWS",), helpers=("_row", "_bump_rows"))
def a_list_of_the_module(a):
    _row(0)[:] = _slow()
    b = ROWS[0] + a
    _bump_rows()
    c = _row(0) + _row(1)
    ROWS.append(a)
    a[0] = _slow()[0]
    d = ROWS[-1][0]
    ROWS[0] = ROWS[1]
    ROWS[1][2] = 50
    return b, c, d, _row(0)


@program(lambda: (np.arange(20.0),), touches=("LIMIT",))
def a_limit_that_moves(a):
    global LIMIT
    b = _limited(a)
    LIMIT = 3.0
    c = _limited(a)
    for i in range(3):
        LIMIT = float(i)
        a[i] = _limited(a).sum()
    return b, c, a


@program(lambda: (4,))
def a_buffer_in_a_default(n):
    def step(x, buffer=np.zeros(4)):  # noqa: B008
        buffer += x
        return buffer

    a = step(_slow())
    b = a + 1
    c = step(1.0)
    a[0] = 9
    return b, a is c, step(0.0)


@program(lambda: ([1],))
def a_list_that_holds_itself(xs):
    xs.append(xs)
    ys = [xs, 2]
    ys.append(ys)
    n = len(xs[1][1])
    d = {"x": 1}
    d["d"] = d
    d["d"]["x"] = 5
    return n, xs[1] is xs, d["x"], ys[2][0] is xs


@program(lambda: (100,))
def lists_nested_deep(n):
    deep = []
    for _ in range(n):
        deep = [deep]
    depth = 0
    while deep:
        deep = deep[0]
        depth += 1
    return depth


@program(lambda: (np.ones(4),))
def numbers_that_print_by_themselves(a):
    np.seterr(divide="call", invalid="call")
    np.seterrcall(lambda kind, flag: print("called", kind, flag))
    b = 1 / (a - 1)
    c = np.sqrt(-a)
    np.seterrcall(None)
    return b, c


@program(lambda: (np.ones(4),))
def a_function_that_is_replaced(a):
    def f(x):
        return x + 1

    b = f(a)

    def f(x):
        x += 10
        return x

    c = f(a)
    g = f
    f = _counted
    return b, c, g(a), f(a)
