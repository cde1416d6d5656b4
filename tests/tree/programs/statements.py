"""The smaller statements and expressions: walrus, match, del, assert, chained comparisons, short circuits."""

from __future__ import annotations

import math

import numpy as np
from tree.programs.runner.program import program


@program(lambda: (np.arange(5.0),))
def walrus(a):
    if (n := len(a)) > 3:
        a[n - 1] = (total := a.sum()) + 1
    b = (c := a * 2) + (d := c.max())
    return a, n, total, b, c, d


@program(lambda: ((1, 2),))
@program(lambda: ({"kind": "point", "x": 3},))
@program(lambda: ([1, 2, 3, 4],))
@program(lambda: ("text",))
@program(lambda: (7,))
@program(lambda: (None,))
def match_statement(value):
    match value:
        case (a, b):
            return "pair", a + b
        case {"kind": "point", "x": x, **rest}:
            return "point", x, rest
        case [first, *others] if first == 1:
            return "list", others
        case str() as s:
            return s.upper()
        case 5 | 7:
            result = "five or seven"
        case _:
            result = "other"
    return result


@program(lambda: (np.zeros(3), 2))
def match_that_stores(a, n):
    for i in range(3):
        match i:
            case 0:
                a[0] = 5
            case k if k == n:
                a[k] = a[0] + k
                break
            case _:
                continue
    return a


@program(lambda: (np.arange(4.0), [1, 2, 3]))
def del_statements(a, xs):
    b = a + 1
    c = b
    del b
    del xs[1], xs[-1]
    d = {"x": c, "y": 1}
    del d["x"]
    try:
        return b  # noqa: F821
    except UnboundLocalError as error:
        return c, xs, d, str(error)


@program(lambda: (np.arange(4.0),))
def del_and_bind_again(a):
    for i in range(3):
        t = a * i
        a = t + 1
        del t
    t = 5
    del i
    return a, t, i  # noqa: F821


@program(lambda: (3, 5, 5))
def chained_comparisons(a, b, c):
    seen = []

    def f(x):
        seen.append(x)
        return x

    r = f(a) < f(b) <= f(c)
    s = f(b) < f(a) < f(100)
    return r, s, seen, 1 < 3 > 2 != 4, a is not None is not b


@program(lambda: (np.zeros(0), 0))
@program(lambda: (np.ones(2), 4))
def short_circuits(a, n):
    x = n and 10 // n
    y = len(a) > 0 and a[0] > 0 or "nothing"  # noqa: RUF021
    z = None or [] or 0 or "last"  # noqa: SIM222
    return x, y, z, not n, not a.any()


@program(lambda: (np.arange(4.0), 0))
@program(lambda: (np.arange(4.0), 3))
def conditional_expressions(a, n):
    x = a / n if n else a
    y = "many" if n > 2 else "one" if n == 1 else "few"
    (a if n else x)[0] = 50
    return x, y, a


@program(lambda: (np.arange(4.0),))
def conditions_on_values(a):
    if a.sum() > 5:  # noqa: SIM108
        b = a * 2
    else:
        b = a - 1
    if b[0] == 0 and b.max() < 3:
        c = 1
    elif b.max() >= 6:
        c = 2
        a[0] = 3
    else:
        c = 3
    if c:
        pass
    return a, b, c


@program(lambda: (np.arange(4.0),))
def expressions_as_statements(a):
    a.sort()
    a + 1
    a[::-1].sort()
    [a.fill(i) for i in range(3)]
    "a string"
    ...  # noqa: PIE790
    return a


@program(lambda: (7, -3, 2.5))
def arithmetic(i, j, x):
    return (
        i // j,
        i % j,
        divmod(-i, 3),
        -(i**2),
        2**-1,
        ~i & 6 | 1 ^ 3,
        i << 3 >> 1,
        round(x),
        round(2.675, 2),
        int(-x),
        x // 1,
        -x % 2,
        abs(j) ** 0.5,
        math.floor(-x),
        1e308 * 10,
        0.1 + 0.2,
        i / j,
        float("nan"),
        -0.0,
        complex(1, -0.0) * 1j,
        True + True,
        2**100,
        math.fsum([0.1] * 10),
    )


@program(lambda: (np.arange(3.0),))
def identity_and_membership(a):
    b = a
    c = a.copy()
    return a is b, a is c, a is not c, 1.0 in a, 5 not in [1, 2], "x" in {"x": 1}, c.base is None, a[:].base is a


@program(lambda: (np.array([0.0, -0.0, np.nan]), np.array([0x7FF8000000000123]).view(np.float64)))
def signs_of_zero_and_payloads(a, n):
    b = -a
    c = a * -1
    d = np.where([True, False, True], b, c)
    e = n + 1
    f = np.maximum(n, 0)
    n[:] = -n
    return b, c, d, e, f, n, max(0.0, -0.0), max(-0.0, 0.0), float(n[0])


@program(lambda: (4,))
def imports_inside(n):
    import math as m
    from collections import deque

    d = deque(range(n))
    d.rotate(1)
    return m.factorial(n), list(d)


@program(lambda: (np.arange(6.0).reshape(2, 3),))
def attributes_of_arrays(m):
    n = m.shape[0] * m.size + m.ndim
    m.shape = (3, 2)
    t = m.T
    m[0, 1] = 50
    return n, m.shape, t, t.flags.c_contiguous, m.dtype.name, len(m), m.nbytes


@program(lambda: (np.arange(4.0),))
def one_line_with_semicolons(a):
    b = a + 1; a[0] = b[1]; b[0] = a[0]  # fmt: skip # noqa: E702
    if a[0]: a[1] = 9  # fmt: skip # noqa: E701
    return a, b
