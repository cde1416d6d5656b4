"""Laws of gradients, over made expressions and made programs with stores, views and aliases."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from tree.grad.differences import assert_gradient, by_differences

from argosy.tree.grad.reverse import grad

UNARY = [
    np.sin,
    np.cos,
    np.tanh,
    np.square,
    np.arctan,
    lambda a: np.exp(0.3 * a),
    lambda a: np.sqrt(a * a + 1),
    lambda a: np.log1p(a * a),
    lambda a: -a,
    lambda a: a / (1 + a * a),
    lambda a: np.where(a > 0.1, a, 0.5 * a),
    lambda a: np.clip(a, -0.7, 0.7),
    lambda a: a.T,
    lambda a: np.sum(a, axis=0),
    lambda a: np.mean(a, -1, keepdims=True),
    lambda a: np.max(a, axis=-1),
    lambda a: a.reshape(-1),
    lambda a: a[::-1],
    lambda a: a[:1] * 2,
    lambda a: a[..., None],
    lambda a: np.cumsum(a, axis=0),
    lambda a: np.concatenate([a, a]),
    lambda a: np.linalg.norm(a, axis=-1) + 1,
    lambda a: a[[0, 0]],
    lambda a: a * np.ones((2, 1, 1)),
    lambda a: np.abs(a),
    lambda a: np.var(a, axis=0, keepdims=True),
]
BINARY = [
    np.add,
    np.subtract,
    np.multiply,
    np.maximum,
    np.minimum,
    lambda a, b: np.arctan2(a, 1 + b * b),
    lambda a, b: np.hypot(a, 1 + b * b),
    np.logaddexp,
    lambda a, b: a / (1 + b * b),
    lambda a, b: (a * a + 0.5) ** (0.3 * b),
    lambda a, b: np.outer(a, b),
    lambda a, b: np.where(a > b, a * b, b),
]
STEPS = st.lists(
    st.tuples(st.integers(0, len(UNARY) + len(BINARY) - 1), st.integers(0, 9), st.integers(0, 9)),
    min_size=1,
    max_size=7,
)
SHAPES = npst.array_shapes(min_dims=1, max_dims=2, max_side=3)


def _grown(x: Any, steps: list[tuple[int, int, int]]) -> Any:
    """An expression over `x`: each step makes an array of earlier ones, where their shapes go together."""
    made = [x, x[0] * 1.3 + 0.2, x * x - 0.1]
    for which, i, j in steps:
        a, b = made[i % len(made)], made[j % len(made)]
        if which < len(UNARY):
            if 0 < a.ndim < 3:
                made.append(UNARY[which](a))
        elif a.size * b.size < 200 and _broadcast(a.shape, b.shape):
            made.append(BINARY[which - len(UNARY)](a, b))
        if made[-1].size > 200:
            made.pop()
    return sum(np.sum(np.sin(each + k)) for k, each in enumerate(made))


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1], strict=False))


def _smooth(f: Any, x: np.ndarray) -> bool:
    """No corner is near: the differences at two steps agree."""
    near, far = by_differences(f, x, 1e-6), by_differences(f, x, 3e-5)
    return bool(np.all(np.isfinite(near)) and np.allclose(near, far, rtol=1e-4, atol=1e-4))


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, shape=SHAPES, seed=st.integers(0, 10_000))
def test_an_expression_has_the_gradient_of_central_differences(steps: Any, shape: Any, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=shape)
    if _smooth(lambda x: _grown(x, steps), x):
        assert_gradient(lambda x: _grown(x, steps), x, 2e-5)


WRITES = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 20), st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=14
)


def _written(x: Any, steps: list[tuple[int, int, int, int]]) -> Any:
    """A program that stores into arrays of 3 x 4 and into views of them, and reads them again."""
    arrays = [x, np.zeros((3, 4)), x * 2, np.ones((4, 3)).T]
    views: list[Any] = list(arrays)
    total = 0.0
    for which, i, j, k in steps:
        a, b = views[i % len(views)], views[j % len(views)]
        if which == 0:
            views.append(a[k % len(a)] if a.ndim > 1 else a[: 1 + k % len(a)])
        elif which == 1:
            views.append(a.T)
        elif which == 2:
            views.append(a.reshape(-1))
        elif which == 3:
            views.append(a[..., ::-1])
        elif which == 4:
            a[k % len(a)] = np.sin(b.ravel()[0]) * 1.1
        elif which == 5:
            a += np.cos(b.ravel()[k % b.size])
        elif which == 6:
            a[...] = a * np.tanh(b.ravel()[-1])
        elif which == 7:
            a[k % len(a)] *= 1 + 0.1 * np.sum(b)
        elif which == 8:
            a[a > 0.3] = np.mean(b)
        elif which == 9:
            np.add.at(a, [0, 0, k % len(a)], np.sin(b.ravel()[k % b.size]))
        elif which == 10:
            a[[0, 0]] = np.sin(np.stack([a[0] * 0.5, a[-1]]))
        elif which == 11:
            a[1:] = a[:-1]
        else:
            total = total + np.sum(np.sin(a) * a) * np.sum(np.tanh(b))
    return total + sum(np.sum(np.sin(each) * (n + 1)) for n, each in enumerate(views))


@settings(max_examples=60, deadline=None)
@given(steps=WRITES, seed=st.integers(0, 10_000))
def test_a_program_with_stores_into_views_has_the_gradient_of_central_differences(steps: Any, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(3, 4))
    if _smooth(lambda x: _written(x.copy(), steps), x):
        assert_gradient(lambda x: _written(x, steps), x, 5e-5)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), a=st.floats(-3, 3), b=st.floats(-3, 3))
def test_the_gradient_is_linear(seed: int, a: float, b: float) -> None:
    x = np.random.default_rng(seed).normal(size=5)

    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * x)

    def g(x: Any) -> Any:
        return np.prod(np.cos(x))

    both = grad(lambda x: a * f(x) + b * g(x))(x)
    np.testing.assert_allclose(both, a * grad(f)(x) + b * grad(g)(x), rtol=1e-10, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_a_gradient_of_a_gradient_is_that_of_central_differences(seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=4)

    def f(x: Any) -> Any:
        table = np.zeros((3, 4))
        table[0] = np.sin(x) * x
        table[1] = table[0][::-1] * np.exp(0.3 * x)
        table[2, 1:] = np.cumsum(table[1, :-1])
        table[2] += x[2] ** 3
        return np.sum(table[1:] @ x) / (1 + np.linalg.norm(x)) + np.max(table) * np.mean(x)

    def along(x: Any) -> Any:
        return np.sum(grad(f)(x) * np.arange(1.0, 5.0))

    if _smooth(along, x):
        assert_gradient(along, x, 5e-5)
