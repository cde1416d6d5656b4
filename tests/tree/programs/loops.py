"""Loops: break, continue, else, the loop variable afterwards, and whiles that depend on data."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


@program(lambda: (np.arange(10.0),))
def break_leaves_the_rest_alone(a):
    for i in range(10):
        if a[i] > 5:
            break
        a[i] = -a[i]
    return i, a


@program(lambda: (np.arange(12.0).reshape(4, 3),))
def break_out_of_the_inner_loop_only(m):
    count = 0
    for i in range(4):
        for j in range(3):
            if m[i, j] % 5 == 4:
                break
            m[i, j] = 0
            count += 1
        m[i] += 0.5
    return count, m, i, j


@program(lambda: (np.arange(10.0),))
def continue_skips(a):
    skipped = []
    for i in range(10):
        if i % 3 == 0:
            skipped.append(i)
            continue
        a[i] = a[i - 1] + 1
    return a, skipped


@program(lambda: (np.arange(6.0),))
def continue_in_a_while(a):
    i = 0
    total = 0.0
    while i < 6:
        i += 1
        if a[i - 1] == 3:
            continue
        total += a[i - 1]
        a[i - 1] = total
    return total, a


@program(lambda: ([2, 4, 6],))
@program(lambda: ([2, 5, 6],))
@program(lambda: ([],))
def for_else(xs):
    for x in xs:
        if x % 2:
            found = x
            break
    else:
        found = None
    return found


@program(lambda: (10.0,))
@program(lambda: (1000.0,))
def while_else(x):
    n = 0
    while x > 1:
        x /= 2
        n += 1
        if n > 6:
            break
    else:
        n = -n
    return n, x


@program(lambda: (30,))
def primes_by_for_else(n):
    primes = []
    for i in range(2, n):
        for p in primes:
            if i % p == 0:
                break
        else:
            primes.append(i)
    return primes


@program(lambda: (np.arange(4.0),))
def else_that_stores(a):
    for i in range(4):
        a[i] += i
    else:
        a *= 2
    while a[0] < 3:
        a += 1
    else:
        a -= 100
    return a


@program(lambda: (5,))
def the_loop_variable_afterwards(n):
    for i in range(n):
        square = i * i
        i = 100
    for j, (k, _) in enumerate([(1, 2), (3, 4)]):  # noqa: B007
        pass
    return i, square, j, k


@program(lambda: ([],))
@program(lambda: ([1],))
def an_empty_loop_leaves_it_unbound(xs):
    for x in xs:
        y = x + 1
    return x, y


@program(lambda: (np.zeros(3), 0))
def a_loop_that_never_runs(a, n):
    total = 0
    for i in range(n):
        a[i] = 5
        total += 1
    while n:
        a[0] = 6
    return a, total


@program(lambda: (np.array([7.0, 3.0, 11.0]),))
def while_on_data(a):
    steps = 0
    while np.abs(a).max() > 1e-2:
        a = a / 2 - 0.01 * np.sign(a)
        steps += 1
    return steps, a


@program(lambda: (27,))
def collatz(n):
    seen = [n]
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        seen.append(n)
    return len(seen), max(seen)


@program(lambda: (np.arange(5.0), 4))
def temporaries_after_the_loop(a, n):
    for i in range(n):
        t = a * i
        u = t + 1
        a = u - t / 2
    return a, t, u


@program(lambda: ([1, 2, 3, 4],))
def a_list_that_changes_under_its_loop(xs):
    for x in xs:
        if x == 2:
            xs.remove(x)
        if x == 4:
            xs.append(9)
    return xs


@program(lambda: (np.arange(4.0),))
def an_array_that_changes_under_its_loop(a):
    seen = []
    for i, x in enumerate(a):
        a[(i + 1) % 4] += 10
        seen.append(float(x))
    return seen, a


@program(lambda: (3, 2))
def the_range_is_made_once(n, m):
    turns = 0
    for i in range(n):
        n = 10
        for _ in range(m):
            m += i
            turns += 1
            if turns > 50:
                return "too many"
    return turns, n, m


@program(lambda: (np.zeros((3, 3)),))
def reversed_zip_enumerate(m):
    for i in reversed(range(3)):
        m[i] += i
    for i, (row, other) in enumerate(zip(m, m[::-1], strict=True), start=1):
        row += other * i
    for key, value in {"b": 1, "a": 2}.items():
        m[value, 0] = ord(key)
    return m


@program(lambda: (np.arange(9.0).reshape(3, 3),))
def three_loops_deep(m):
    out = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            for k in range(3):
                if k == i:
                    continue
                out[i, j] += m[i, k] * m[k, j]
    return out


@program(lambda: (np.arange(4.0), 3))
def independent_chains(a, n):
    x, y, z = a, a + 1, a * 2
    for _ in range(n):
        x = np.tanh(x) + 0.1
    for _ in range(n):
        y = np.cos(y) * 2
    while z.sum() < 1000:
        z = z * z + 1
    return x, y, z, x + y


@program(lambda: (np.arange(6.0),))
def a_while_with_a_walrus_and_a_pop(a):
    todo = [5, 3, 1]
    while todo and (i := todo.pop()) < 5:
        a[i] *= -1
        if a[i] == -3:
            todo.append(2)
    return a, todo, i
