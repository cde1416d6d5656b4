"""Things that look at others later: views of dictionaries, iterators, maps, bound methods, default factories."""

from __future__ import annotations

import copy
import functools
import operator

import numpy as np
from tree.programs.runner.program import program


def _slow(x=1.0):
    return np.sort(np.sin(np.arange(10000.0) * x))[-4:]


@program(lambda: ({"a": 1},))
def views_of_a_dict(d):
    keys, values, items = d.keys(), d.values(), d.items()
    d["b"] = 2
    n = len(keys)
    d["a"] = _slow().sum()
    return n, list(values), list(items), "b" in keys


@program(lambda: ({"w": np.zeros(4)},))
def values_that_are_arrays(d):
    values = d.values()
    d["w"][:] = _slow()
    total = sum(x.sum() for x in values)
    w = d.setdefault("w", np.ones(4))
    w[0] = 9
    u = d.get("v", w)
    u[1] = 8
    popped = d.pop("w")
    popped[2] = 7
    return total, w, d


@program(lambda: ([1, 2, 3],))
def an_iterator_over_a_list(xs):
    it = iter(xs)
    first = next(it)
    xs.append(4)
    xs[1] = _slow().sum()
    return first, list(it)


@program(lambda: (np.arange(4.0),))
def a_map_is_lazy(a):
    doubled = map(lambda x: x * 2, a)  # noqa: C417
    a[:] = _slow()
    first = next(doubled)
    a[1] = 50
    return first, list(doubled)


@program(lambda: (np.arange(12.0).reshape(3, 4),))
def zip_and_enumerate_are_lazy(m):
    pairs = zip(m, m[::-1], strict=True)
    numbered = enumerate(m)
    backwards = reversed(m)
    m[0] = _slow()
    x = [p.sum() + q.sum() for p, q in pairs]
    m[1] = _slow(2.0)
    y = [i * row.sum() for i, row in numbered]
    return x, y, [row[0] for row in backwards]


@program(lambda: (np.arange(4.0),))
def bound_methods(a):
    total = a.sum
    fill = a.fill
    a[:] = _slow()
    x = total()
    fill(3.0)
    y = total() + a[0]
    return x, y, a


@program(lambda: (np.arange(4.0),))
def a_partial_holds_an_array(a):
    add = functools.partial(np.add, a)
    a[:] = _slow()
    x = add(1)
    put = functools.partial(operator.setitem, a, 0)
    put(9.0)
    return x, add(2), a


@program(lambda: (np.arange(4.0), [np.zeros(4)]))
def results_that_are_an_argument(a, xs):
    b = sum([], a)
    c = max([a], key=np.sum)
    d = copy.copy(xs)
    e = next(iter(xs))
    f = functools.reduce(operator.iadd, [a, 1.0, 2.0])
    g = operator.iadd(a, 1)
    a[:] = _slow()
    x = b + c + f + g
    e[0] = 5
    return x, b is a, c is a, f is a, g is a, d


@program(lambda: (np.arange(4.0),))
def stores_by_other_names(a):
    operator.setitem(a, 0, 5.0)
    np.put(a, [1], [6.0])
    a.__setitem__(2, _slow()[0])
    x = a.__getitem__(2)
    a.itemset = None if hasattr(a, "itemset") else 0
    return a, x


@program(lambda: (np.arange(4.0), 3))
def a_default_looks_at_an_array(a, n):
    def f(x=a, k=n):
        return x.sum() + k

    a[:] = _slow()
    n = 10
    x = f()
    a[0] = 100
    return x, f(), f.__defaults__


@program(lambda: (np.arange(4.0),))
def names_read_by_eval(a):
    b = a * 2  # noqa: F841
    x = eval("b.sum() + a[0]")
    a[:] = _slow()
    y = eval("a + b")
    return x, y, sorted(vars())


@program(lambda: (np.arange(4.0), [3, 1]))
def a_slice_object_and_a_tuple_of_views(a, xs):
    halves = (a[:2], a[2:])
    a[:] = _slow()
    x = halves[0] + halves[1]
    halves[1][0] = 9
    pair = (xs, len(xs))
    xs.append(5)
    return x, a[2], pair


@program(lambda: ([np.zeros(2), np.ones(2)],))
def lists_of_lists_of_arrays(xs):
    nested = [xs, [xs[0]]]
    flat = [x for part in nested for x in part]
    flat[0][0] = _slow()[0]
    y = xs[0] + nested[1][0]
    nested[0].append(flat[1])
    xs[2][1] = 7
    return y, nested, flat


@program(lambda: (np.arange(4.0),))
def a_name_bound_to_the_old_array(a):
    old = a
    a = a + _slow()
    old[0] = 9
    history = [old, a]
    a += 1
    old = a
    old[1] = 8
    return history, a


@program(lambda: (np.zeros((3, 4)),))
def elements_of_a_zip_after_something_was_printed(m):
    seen = []
    for row, other in zip(m, m[::-1], strict=True):
        m[:] = m + _slow()
        seen.append(row[0] + other[1])
        print(len(seen))
    return seen


@program(lambda: (np.zeros((3, 4)),))
def elements_of_an_enumerate_after_something_was_printed(m):
    for i, row in enumerate(m):
        m[:] = m + _slow(i + 1.0)
        row[i] = 5
        x = m.sum()
        print(i, x)
    return m


@program(lambda: (np.zeros((3, 4)),))
def elements_of_a_list_after_something_was_printed(m):
    rows = list(m)
    for row in rows:
        m[:] = m + _slow()
        x = row[0]
        print(x)
    for row in reversed(rows):
        m[:] = m + _slow()
        print(row[0])
    return m
