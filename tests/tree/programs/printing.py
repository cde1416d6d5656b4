"""Printed lines and other side effects come in the order of plain Python, between work that could overlap."""

from __future__ import annotations

import sys

import numpy as np
from tree.programs.runner.program import program


@program(lambda: (np.arange(5.0),))
def between_independent_statements(a):
    b = np.sin(a)
    print("b", b.sum())
    c = np.cos(a)
    print("c", c.sum())
    a[0] = 5
    print("a", a)
    return b + c


@program(lambda: (np.arange(6.0).reshape(3, 2),))
def in_a_loop_over_rows(m):
    for i in range(3):
        m[i] *= 2
        print(i, m[i])
    print("end", end="")
    return m


@program(lambda: (np.arange(3.0),))
def before_an_error(a):
    print("one")
    b = a + 1
    print("two", b)
    c = b + np.ones(4)
    print("three", c)


@program(lambda: (3,))
def in_arguments_and_conditions(n):
    def say(x):
        print(x, end=" ")
        return x

    if say(n) > say(2) and say(0) or say(7):  # noqa: RUF021
        say("then")
    return [say(1), say(2)], {say("k"): say("v")}, say(5) + say(6)


@program(lambda: (np.arange(3.0),))
def written_to_stdout(a):
    sys.stdout.write("direct\n")
    a += 1
    print(*a, sep=",", file=sys.stdout)
    return a


@program(lambda: ([],))
def a_log_that_is_a_list(log):
    def f(x):
        log.append(x)
        return x

    a = f(1)
    b = f(2)
    c = f(a + b)
    log.append("end")
    return c, log


@program(lambda: (np.arange(4.0),))
def print_in_a_while(a):
    while a.sum() < 50:
        print(f"{a.sum():.1f}")
        a = a * 1.7
    print("at last", a)
