"""Globals: counters, tables and arrays of the module that a program and its helpers change."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program

COUNT = 0
TABLE: dict = {}
GRID = np.zeros(4)
SCALE = 2.0
NAMES = ["a"]


def _next():
    global COUNT
    COUNT += 1
    return COUNT


def _scaled(a):
    return a * SCALE


def _grid_sum():
    return GRID.sum()


@program(lambda: (3,), touches=("COUNT",))
def a_counter(n):
    global COUNT
    a = _next()
    COUNT = COUNT * 10
    b = _next()
    for _ in range(n):
        COUNT += 1
    return a, b, COUNT


@program(lambda: (np.arange(3.0),), touches=("COUNT",), helpers=("_next",))
def changed_from_two_places(a):
    global COUNT
    b = a * _next()
    COUNT += 5
    c = a * _next()
    d = [_next() for _ in range(3)]
    return b, c, d


@program(lambda: (4,), touches=("TABLE",))
def a_table(n):
    for i in range(n):
        TABLE[i] = i * i
    TABLE[0] = TABLE[3] + len(TABLE)
    return dict(TABLE)


@program(lambda: (np.arange(4.0),), touches=("GRID",))
def an_array(a):
    before = _grid_sum()
    GRID[1] = 5
    middle = _grid_sum()
    GRID[:] += a
    after = _grid_sum()
    return before, middle, after


@program(lambda: (np.arange(4.0),), touches=("GRID",), helpers=("_grid_sum",))
def an_array_bound_anew(a):
    global GRID
    old = GRID
    GRID = a
    a[0] = 100
    x = _grid_sum()
    old[0] = 7
    return x, old


@program(lambda: (np.arange(3.0),), touches=("SCALE",))
def read_by_a_helper(a):
    global SCALE
    b = _scaled(a)
    SCALE = 10
    c = _scaled(a)
    return b, c


@program(lambda: ("b",), touches=("NAMES",))
def a_list(name):
    NAMES.append(name)
    alias = NAMES
    alias.append(name * 2)
    return list(NAMES), len(NAMES)


@program(lambda: (5,), touches=("LATER",))
def bound_for_the_first_time(n):
    global LATER
    LATER = [n]
    LATER.append(n + 1)
    return sum(LATER)


@program(lambda: (np.arange(3.0),), touches=("COUNT",))
def left_behind_by_an_error(a):
    global COUNT
    COUNT = 5
    a[0] = COUNT
    COUNT = 1 // (COUNT - 5)
    COUNT = 9


@program(lambda: (2,), touches=("COUNT", "SCALE"))
def through_the_table_of_globals(n):
    globals()["COUNT"] = n
    x = COUNT + 1
    exec("SCALE = 3", globals())
    return x, SCALE, sorted(locals())
