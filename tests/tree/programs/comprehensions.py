"""Comprehensions: with conditions, nested, of arrays, with side effects, and generators that are read lazily."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


@program(lambda: (np.arange(16.0).reshape(4, 4),))
def arrays_from_rows(m):
    sums = [np.sin(row).sum() for row in m]
    outer = [m[i] * m[:, i] for i in range(4)]
    return sums, outer, np.stack(outer)


@program(lambda: (10,))
def with_conditions(n):
    a = [i for i in range(n) if i % 2 if i > 3]
    b = {i: i * i for i in range(n) if i not in a}
    c = {i % 3 for i in range(n)}
    d = [x if x > 5 else -x for x in range(n)]
    return a, b, c, d


@program(lambda: (3,))
def nested(n):
    pairs = [(i, j) for i in range(n) for j in range(i) if i + j > 1]
    table = [[i * j for j in range(n)] for i in range(n)]
    flat = [x for row in table for x in row]
    return pairs, table, flat


@program(lambda: (5,))
def the_variable_stays_inside(i):
    xs = [i for i in range(i)]  # noqa: C416
    return i, xs


@program(lambda: (np.arange(5.0),))
def elements_that_store(a):
    def bump(i):
        a[i] += a[i - 1]
        return a[i]

    return [bump(i) for i in range(5)], a


@program(lambda: (np.arange(4.0),))
def elements_that_print(a):
    xs = [print("at", i) or a[i] * 2 for i in range(3)]
    print("done")
    return xs


@program(lambda: ([4.0, 1.0, 0.0, 2.0],))
def an_element_that_raises(xs):
    seen = []
    ys = [seen.append(x) or 1 / x for x in xs]
    return ys, seen


@program(lambda: ([4.0, 1.0, 0.0, 2.0],))
def an_element_that_raises_is_caught(xs):
    ys = None
    try:
        ys = [1 / x for x in xs]
    except ZeroDivisionError as error:
        print("caught", error)
    return ys


@program(lambda: (np.arange(6.0),))
def views_in_a_list(a):
    parts = [a[i : i + 2] for i in range(0, 6, 2)]
    parts[0][0] = 50
    a[5] = 60
    for part in parts:
        part *= 2
    return parts, a


@program(lambda: (6,))
def a_generator_expression_is_lazy(n):
    seen = []
    lazy = (seen.append(i) or i * i for i in range(n))
    first = next(lazy)
    before = list(seen)
    rest = sum(lazy)
    return first, before, rest, seen


@program(lambda: ([1, 2, 3, 4, 5],))
def any_and_all_stop_early(xs):
    seen = []
    found = any(seen.append(x) or x > 2 for x in xs)
    every = all(x < 4 for x in xs if seen.append(-x) is None)
    return found, every, seen


@program(lambda: (3,))
def functions_made_in_a_comprehension(n):
    late = [lambda: i for i in range(n)]  # noqa: B023
    early = [lambda i=i: i for i in range(n)]
    return [f() for f in late], [f() for f in early]


@program(lambda: (np.arange(12.0).reshape(3, 4), np.ones(4)))
def of_matrices(m, v):
    grams = [np.outer(row, row) + np.eye(4) for row in m]
    solved = [np.linalg.solve(g, v) for g in grams]
    return solved, sum(s.sum() for s in solved), max(grams, key=lambda g: g[0, 0])


@program(lambda: ("the quick brown fox the lazy dog the end",))
def counted_words(text):
    words = text.split()
    counts = {w: words.count(w) for w in words}
    return sorted(counts.items(), key=lambda item: (-item[1], item[0])), [w.upper() for w in words if len(w) > 3]


@program(lambda: (np.arange(5.0), 3))
def closures_over_what_changes(a, n):
    scale = 2
    f = [a * scale for _ in range(n)]
    scale = 3
    g = [x * scale + k for k, x in enumerate(f)]
    a[0] = 9
    h = [x is y for x, y in zip(f, g, strict=True)]
    return f, g, h


@program(lambda: ([3, 1, 2],))
def a_walrus_in_a_comprehension(xs):
    ys = [last := x * 2 for x in xs]
    total = 0
    partial = [total := total + x for x in xs]
    return ys, last, partial, total


@program(lambda: (np.zeros(4),))
def an_empty_comprehension(a):
    xs = [a + i for i in range(0)]
    ys = [x for x in [] if x.nothing]
    return xs, ys, {}, {x: x for x in ()}
