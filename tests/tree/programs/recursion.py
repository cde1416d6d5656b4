"""Recursion: of the program itself, which is futurized then, and of functions inside it."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


@program(lambda: (9,))
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@program(lambda: (np.array([5.0, 2.0, 9.0, 1.0, 7.0, 3.0, 8.0]),))
def merge_sort(a):
    if len(a) < 2:
        return a
    half = len(a) // 2
    left, right = merge_sort(a[:half]), merge_sort(a[half:])
    out = np.zeros(len(a))
    i = j = 0
    for k in range(len(a)):
        if j == len(right) or (i < len(left) and left[i] <= right[j]):
            out[k] = left[i]
            i += 1
        else:
            out[k] = right[j]
            j += 1
    return out


@program(lambda: (np.array([5.0, 2.0, 9.0, 1.0, 7.0, 3.0, 8.0]), 0, 7))
def sort_in_place(a, low, high):
    if high - low < 2:
        return a
    pivot = a[low]
    small, large = a[low:high][a[low:high] < pivot], a[low + 1 : high][a[low + 1 : high] >= pivot]
    a[low : low + len(small)] = small
    a[low + len(small)] = pivot
    a[low + len(small) + 1 : high] = large
    sort_in_place(a, low, low + len(small))
    sort_in_place(a, low + len(small) + 1, high)
    return a


@program(lambda: (3, "a", "b", "c"))
def hanoi(n, source, spare, target):
    if n:
        hanoi(n - 1, source, target, spare)
        print(n, source, "->", target)
        hanoi(n - 1, spare, source, target)


@program(lambda: (1,))
def endless(n):
    return endless(n + 1) + 1


@program(lambda: (0,))
def endless_and_caught(n):
    def down(k):
        return down(k + 1)

    try:
        down(0)
    except RecursionError as error:
        return type(error).__name__, n
    return None


@program(lambda: (np.arange(16.0).reshape(4, 4), np.eye(4)))
def quadrants(a, b):
    n = len(a)
    if n == 1:
        return a * b
    h = n // 2
    out = np.zeros((n, n))
    for i in (0, h):
        for j in (0, h):
            out[i : i + h, j : j + h] = quadrants(a[i : i + h, :h], b[:h, j : j + h])
            out[i : i + h, j : j + h] += quadrants(a[i : i + h, h:], b[h:, j : j + h])
    return out


@program(lambda: ([1, 2, 3],))
def permutations(xs):
    if not xs:
        return [[]]
    return [[x, *rest] for i, x in enumerate(xs) for rest in permutations(xs[:i] + xs[i + 1 :])]


@program(lambda: (6,))
def remembered(n, table={}):  # noqa: B006
    if n not in table:
        table[n] = 1 if n < 2 else remembered(n - 1) * n
    return table[n]


@program(lambda: ([1, [2, [3, np.ones(2)], 4], (5,)],))
def nested_lists(tree):
    if isinstance(tree, list | tuple):
        return sum(nested_lists(item) for item in tree)
    return np.sum(tree) * 2


@program(lambda: (4,))
def an_error_deep_down(n):
    x = 10 // n
    return an_error_deep_down(n - 1) + x


@program(lambda: (2, 3))
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))
