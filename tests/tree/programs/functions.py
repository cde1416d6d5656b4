"""Functions inside functions: closures, nonlocal, defaults, lambdas, decorators, stars and keywords."""

from __future__ import annotations

import functools

import numpy as np
from tree.programs.runner.program import program


def _scaled(a, *, by=2.0, add=0):
    return a * by + add


def _filled(a, value):
    a[:] = value
    return a


def _same(a):
    return a


def _told(x):
    print("told", x)
    return x


@program(lambda: (np.arange(4.0),))
def a_counter(a):
    count = 0

    def step(x):
        nonlocal count
        count += 1
        return x * count

    b = step(a)
    c = step(a)
    d = step(b) + step(c)
    return b, c, d, count


@program(lambda: (np.arange(4.0),))
def a_closure_sees_the_last_value(a):
    scale = 1

    def scaled():
        return a * scale

    first = scaled()
    scale = 5
    second = scaled()
    a = a + 100
    return first, second, scaled()


@program(lambda: (np.zeros(4),))
def a_closure_that_stores(a):
    def put(i, x):
        a[i] = x

    put(0, 1.0)
    b = a + 1
    put(1, b[0])
    put(2, a.sum())
    return a, b


@program(lambda: (3,))
def defaults_are_made_once(n):
    def grow(x, seen=[], table={}):  # noqa: B006
        seen.append(x)
        table[x] = len(seen)
        return seen, table

    for i in range(n):
        result = grow(i)
    return result, grow(10, [])


@program(lambda: (np.arange(3.0),))
def lambdas(a):
    double = lambda x: x * 2  # noqa: E731
    compose = lambda f, g: lambda x: f(g(x))  # noqa: E731
    thrice = compose(double, lambda x, k=3: x + k)
    table = {"add": lambda x, y: x + y, "dot": lambda x, y: x @ y}
    return double(a), thrice(a), table["add"](a, a), table["dot"](a, a)


@program(lambda: (np.arange(3.0),))
def a_decorator(a):
    log = []

    def noted(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            log.append(function.__name__)
            return function(*args, **kwargs)

        return inner

    @noted
    def bump(x, by=1):
        x += by
        return x

    b = bump(a)
    c = bump(b, by=10)
    return b is c, log, a, bump.__name__


@program(lambda: (1, 2, 3))
def stars_in_the_signature(*numbers):
    def f(a, /, b, *rest, c=5, **more):
        return a, b, rest, c, more

    return f(*numbers), f(0, *numbers, c=1, d=2), f(1, **{"b": 2, "e": 3})  # noqa: PIE804


@program(lambda: (np.arange(3.0),), keywords=lambda: {"scale": 2.0, "offset": np.ones(3)})
def keyword_arguments(a, *, offset, scale=1.0, missing=None):
    a *= scale
    offset += a
    return a + offset, missing


@program(lambda: (np.arange(3.0),), keywords=lambda: {"x": 1, "y": np.zeros(2)})
def keywords_in_a_dict(a, **options):
    options["y"][0] = options["x"]
    options["z"] = a
    return options


@program(lambda: (np.arange(4.0),))
def helpers_of_the_module(a):
    b = _scaled(a, by=3)
    c = _same(a)
    c[0] = 7
    d = _scaled(a, add=b)
    e = _filled(b, 1.5)
    return a, b, c, d, e


@program(lambda: (np.arange(4.0),), helpers=("_scaled", "_same", "_filled"))
def helpers_that_are_futurized_too(a):
    b = _scaled(a, by=3)
    c = _same(a)
    c[0] = 7
    d = _scaled(a, add=b)
    e = _filled(b, d.sum())
    for _ in range(3):
        e = _filled(_same(e), e.max() + 1)
    return a, b, c, d, e


@program(lambda: (np.arange(4.0),))
def helpers_that_print(a):
    b = a * 2
    _told(b.sum())
    c = b + 1
    x = _told(c[0]) + _told(c[1])
    a[0] = x
    _told(a)
    return a, c


@program(lambda: (2,))
def arguments_in_order(n):
    def f(*args, **kwargs):
        return args, kwargs

    return f(_told(n), *[_told(3)], x=_told(4), **{"y": _told(5)})  # noqa: PIE804


@program(lambda: (np.arange(4.0),))
def partials_and_maps(a):
    add = functools.partial(np.add, 10)
    b = add(a)
    c = list(map(lambda x: x * 2, a))  # noqa: C417
    d = functools.reduce(lambda x, y: x - y, [b, a, a])
    e = list(filter(None, [0, 1, a.sum(), ""]))
    return b, c, d, e


@program(lambda: (np.arange(4.0),))
def a_missing_argument(a):
    a[0] = 1
    _scaled(a, times=3)
    a[1] = 1


@program(lambda: (5,))
def a_function_that_is_returned(n):
    total = n

    def more(k=1):
        nonlocal total
        total += k
        return total

    more(2)
    return more(3), more


@program(lambda: (4,))
def mutual_calls(n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    return even(n), odd(n)


@program(lambda: (np.arange(3.0),))
def a_name_that_is_shadowed(a):
    len = lambda x: 42  # noqa: E731, A001
    sum = np.prod  # noqa: A001
    return len(a), sum(a + 1)


@program(lambda: (np.arange(9.0).reshape(3, 3),))
def a_helper_inside_a_loop(m):
    def normed(v):
        n = np.sqrt((v * v).sum())
        if n == 0:
            return v
        return v / n

    for i in range(3):
        m[i] = normed(m[i])
    return m, normed(np.zeros(2))


@program(lambda: (np.arange(3.0), np.arange(3.0)))
def annotated_names(a: np.ndarray, b: np.ndarray):
    x: np.ndarray = a + 1
    y: float
    a[0]: float = 5.0
    y = x.sum()
    return x, y, a
