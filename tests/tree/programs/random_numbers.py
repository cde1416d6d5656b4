"""Random numbers: the global state and generators are drawn from in program order."""

from __future__ import annotations

import random

import numpy as np
from tree.programs.runner.program import program


@program(lambda: (4,))
def the_global_state(n):
    a = np.random.rand(n)
    b = np.random.normal(size=n)
    c = np.random.randint(0, 100, n)
    np.random.shuffle(a)
    return a, b, c, np.random.permutation(n)


@program(lambda: (4,))
def seeds_between(n):
    np.random.seed(1)
    a = np.random.rand(n)
    x = a.sum()
    np.random.seed(1)
    b = np.random.rand(n)
    return a, b, x, np.random.uniform()


@program(lambda: (np.random.default_rng(3), 5))
def a_generator_as_argument(rng, n):
    a = rng.normal(size=n)
    b = rng.integers(0, 10, size=n)
    rng.shuffle(a)
    c = [rng.random() for _ in range(3)]
    return a, b, c, rng.permutation(n), rng


@program(lambda: (6,))
def two_generators(n):
    one, two = np.random.default_rng(1), np.random.default_rng(2)
    m = np.zeros((n, 3))
    for i in range(n):
        m[i] = one.normal(size=3) if i % 2 else two.normal(size=3)
    three = one
    return m, three.random(), one.random(), two.random()


@program(lambda: (200,))
def monte_carlo(n):
    inside = 0
    for _ in range(n):
        x, y = random.random(), random.random()
        if x * x + y * y < 1:
            inside += 1
    return 4 * inside / n


@program(lambda: (np.random.default_rng(0),))
def spawned_generators(rng):
    children = rng.spawn(3)
    draws = [child.normal(size=2) for child in children]
    total = np.zeros(2)
    for draw in draws:
        total += draw
    return draws, total, rng.random()


@program(lambda: (np.arange(5.0),))
def rows_of_noise(a):
    out = np.zeros((4, 5))
    for i in range(4):
        out[i] = a + np.random.normal(size=5)
    return out
