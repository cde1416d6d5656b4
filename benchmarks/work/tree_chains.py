"""Two chains of work that have nothing to do with one another, written one after another in plain NumPy.

Each step is one in which NumPy uses one core and lets other threads run: functions of every element, a sort, a Fourier
transform, a product of small matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from work.tree_programs import Array, Program


def waves(x: Array, steps: int) -> Array:
    for _ in range(steps):
        x = np.cos(x) + np.exp(-x * x)
    return x


def sorts(x: Array, steps: int) -> Array:
    for step in range(steps):
        x = np.sort((x * (step + 2)) % 1.0)
    return x


def transforms(x: Array, steps: int) -> Array:
    for _ in range(steps):
        x = np.fft.irfft(np.fft.rfft(x) * 0.999, len(x))
    return x


def products(x: Array, steps: int) -> Array:
    for _ in range(steps):
        x = x @ x
        x = x / np.abs(x).max()
    return x


def straight_line(a: Array, b: Array) -> tuple[Array, Array]:
    a = np.cos(a) + np.exp(-a * a)
    a = np.sort(a)
    a = np.tanh(a) * np.sqrt(a)
    a = np.fft.irfft(np.fft.rfft(a), len(a))
    a = np.log1p(np.sin(a) ** 2)
    b = np.cos(b) + np.exp(-b * b)
    b = np.sort(b)
    b = np.tanh(b) * np.sqrt(b)
    b = np.fft.irfft(np.fft.rfft(b), len(b))
    b = np.log1p(np.sin(b) ** 2)
    return a, b


def two_loops_of_waves(a: Array, b: Array, steps: int) -> tuple[Array, Array]:
    for _ in range(steps):
        a = np.cos(a) + np.exp(-a * a)
    for _ in range(steps):
        b = np.cos(b) + np.exp(-b * b)
    return a, b


def two_loops_of_sorts(a: Array, b: Array, steps: int) -> tuple[Array, Array]:
    for step in range(steps):
        a = np.sort((a * (step + 2)) % 1.0)
    for step in range(steps):
        b = np.sort((b * (step + 2)) % 1.0)
    return a, b


def two_loops_of_transforms(a: Array, b: Array, steps: int) -> tuple[Array, Array]:
    for _ in range(steps):
        a = np.fft.irfft(np.fft.rfft(a) * 0.999, len(a))
    for _ in range(steps):
        b = np.fft.irfft(np.fft.rfft(b) * 0.999, len(b))
    return a, b


def two_loops_of_products(a: Array, b: Array, steps: int) -> tuple[Array, Array]:
    for _ in range(steps):
        a = a @ a
        a = a / np.abs(a).max()
    for _ in range(steps):
        b = b @ b
        b = b / np.abs(b).max()
    return a, b


def two_whiles(a: Array, b: Array, least: float) -> tuple[Array, Array, int, int]:
    """How often each goes round depends on what it computes."""
    first = 0
    while np.max(a) > least:
        a = np.sin(a) * np.exp(-0.001 * a)
        first += 1
    second = 0
    while np.max(b) > least:
        b = np.sin(b) * np.exp(-0.001 * b)
        second += 1
    return a, b, first, second


def two_whiles_of_one_counter(a: Array, b: Array, least: float) -> tuple[Array, Array, int]:
    """The counter makes them one chain: the second loop goes on with what the first one counted."""
    rounds = 0
    while np.max(a) > least:
        a = np.sin(a) * np.exp(-0.001 * a)
        rounds += 1
    while np.max(b) > least:
        b = np.sin(b) * np.exp(-0.001 * b)
        rounds += 1
    return a, b, rounds


def two_calls(a: Array, b: Array, steps: int) -> tuple[Array, Array]:
    first = waves(a, steps)
    second = waves(b, steps)
    return first, second


def one_loop(a: Array, b: Array, steps: int) -> tuple[Array, Array]:
    for _ in range(steps):
        a = np.cos(a) + np.exp(-a * a)
        b = np.cos(b) + np.exp(-b * b)
    return a, b


def _pair(length: int) -> tuple[Any, ...]:
    draw = np.random.default_rng(8)
    return draw.random(length), draw.random(length)


def _stepped(length: int, steps: int) -> tuple[Any, ...]:
    return *_pair(length), steps


def _matrices(side: int, steps: int) -> tuple[Any, ...]:
    draw = np.random.default_rng(9)
    return draw.normal(size=(side, side)), draw.normal(size=(side, side)), steps


def _until(length: int, thousandths: int) -> tuple[Any, ...]:
    return *_pair(length), thousandths / 1000


CHAINS = {
    "straight line": Program(run=straight_line, make=_pair, small=(50,), large=((500_000,),)),
    "two for loops, every element": Program(
        run=two_loops_of_waves, make=_stepped, small=(40, 3), large=((100_000, 40),)
    ),
    "two for loops, sort": Program(run=two_loops_of_sorts, make=_stepped, small=(40, 3), large=((100_000, 40),)),
    "two for loops, Fourier transform": Program(
        run=two_loops_of_transforms, make=_stepped, small=(40, 3), large=((100_000, 40),)
    ),
    "two for loops, small matrices": Program(
        run=two_loops_of_products, make=_matrices, small=(5, 3), large=((60, 2000),)
    ),
    "two while loops": Program(run=two_whiles, make=_until, small=(40, 600), large=((100_000, 250),)),
    "two while loops, one counter": Program(
        run=two_whiles_of_one_counter, make=_until, small=(40, 600), large=((100_000, 250),)
    ),
    "two calls": Program(run=two_calls, make=_stepped, small=(40, 3), large=((100_000, 40),)),
    "in turns in one loop": Program(run=one_loop, make=_stepped, small=(40, 3), large=((100_000, 40),)),
}
BY_HAND = {
    "two for loops, every element": waves,
    "two for loops, sort": sorts,
    "two for loops, Fourier transform": transforms,
    "two for loops, small matrices": products,
}
"""One chain of those two, for a thread of its own: what this machine gives to two threads at best."""
