"""Generators: when their bodies run, what they see, and send, close and yield from."""

from __future__ import annotations

import itertools

import numpy as np
from tree.programs.runner.program import program


@program(lambda: (np.arange(4.0),))
def the_program_is_a_generator(a):
    for i in range(4):
        a[i] *= 2
        print("before", i)
        yield a[i]
    yield from "xy"
    return a


@program(lambda: (np.arange(4.0),))
def a_body_that_runs_late(a):
    def items():
        for i in range(4):
            yield a[i]

    g = items()
    a[0] = 50
    first = next(g)
    a[1] = 60
    rest = list(g)
    return first, rest


@program(lambda: (5,))
def send_and_close(n):
    log = []

    def averager():
        total, count = 0.0, 0
        try:
            while True:
                x = yield total / count if count else None
                total += x
                count += 1
        finally:
            log.append(count)

    g = averager()
    next(g)
    seen = [g.send(i) for i in range(n)]
    g.close()
    return seen, log


@program(lambda: (3,))
def yield_from_gives_a_value(n):
    def inner():
        yield from range(n)
        return "inner"

    def outer():
        value = yield from inner()
        yield value

    return list(outer())


@program(lambda: (np.arange(6.0),))
def pipelines(a):
    log = []

    def source():
        for x in a:
            log.append(("s", float(x)))
            yield x

    def squares(xs):
        for x in xs:
            log.append(("q", float(x)))
            yield x * x

    taken = list(itertools.islice(squares(source()), 3))
    return taken, log


@program(lambda: (np.arange(6.0),))
def a_generator_that_stores(a):
    def halves():
        for i in range(len(a)):
            a[i] /= 2
            yield i

    total = 0.0
    for i in halves():
        total += a[i]
        if i == 3:
            break
    return total, a


@program(lambda: (3,))
def an_error_inside(n):
    def g():
        for i in range(5):
            yield 10 // (n - i)

    out = []
    for x in g():
        out.append(x)  # noqa: PERF402
    return out


@program(lambda: (4,))
def used_up(n):
    g = (i * i for i in range(n))
    return sum(g), sum(g), list(g)


@program(lambda: ([1, 2, 3, 4],))
def an_iterator_read_from_two_places(xs):
    it = iter(xs)
    pairs = [(x, next(it)) for x in it]
    return pairs, list(zip(*[iter(xs)] * 2, strict=True))
