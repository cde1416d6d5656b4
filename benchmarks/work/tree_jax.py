"""The programs of the literature as one would write them for JAX: compiled, loops as `fori_loop` and `while_loop`.

Double precision, as NumPy has it, and JAX's own threads. `peer` answers None where JAX is not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np


def peer(program: str, arguments: tuple[Any, ...]) -> Callable[[], Any] | None:
    """That program with its arguments on JAX's side already; a call waits for the answer, as NumPy arrays."""
    if find_spec("jax") is None:
        return None
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    run = _PROGRAMS[program](jax, *arguments)

    def call() -> Any:
        answer = jax.block_until_ready(run())
        return tuple(map(np.asarray, answer)) if isinstance(answer, tuple) else np.asarray(answer)

    return call


def _logistic(jax: Any, x: Any, y: Any, alpha: float, iterations: int) -> Callable[[], Any]:
    jnp = jax.numpy

    def fit(x: Any, y: Any) -> Any:
        def step(_: int, weights: Any) -> Any:
            predicted = 1.0 / (1.0 + jnp.exp(-(x @ weights)))
            return weights - alpha * (x.T @ (predicted - y))

        return jax.lax.fori_loop(0, iterations, step, jnp.zeros(x.shape[1]))

    x, y = jnp.asarray(x), jnp.asarray(y)
    compiled = jax.jit(fit)
    return lambda: compiled(x, y)


def _linear(jax: Any, x: Any, y: Any, alpha: float, iterations: int) -> Callable[[], Any]:
    jnp = jax.numpy

    def fit(x: Any, y: Any) -> Any:
        def step(_: int, weights: Any) -> Any:
            return weights - alpha * (2.0 * (x.T @ (x @ weights - y)) / len(y))

        weights = jax.lax.fori_loop(0, iterations, step, jnp.zeros(x.shape[1]))
        return weights, jnp.mean((x @ weights - y) ** 2)

    x, y = jnp.asarray(x), jnp.asarray(y)
    compiled = jax.jit(fit)
    return lambda: compiled(x, y)


def _normal(jax: Any, x: Any, y: Any, regularization: float) -> Callable[[], Any]:
    jnp = jax.numpy

    def solve(x: Any, y: Any) -> Any:
        design = jnp.column_stack([jnp.ones(len(x)), x])
        gram = design.T @ design + regularization * jnp.eye(design.shape[1])
        weights = jnp.linalg.solve(gram, design.T @ y)
        residual = y - design @ weights
        return weights, 1.0 - jnp.sum(residual**2) / jnp.sum((y - y.mean()) ** 2)

    x, y = jnp.asarray(x), jnp.asarray(y)
    compiled = jax.jit(solve)
    return lambda: compiled(x, y)


def _powers(jax: Any, x: Any, num_components: int, tolerance: float) -> Callable[[], Any]:
    jnp = jax.numpy

    def directions_of(x: Any) -> Any:
        centred = x - x.mean(axis=0)
        covariance = centred.T @ centred / (len(x) - 1)

        def component(covariance: Any, _: Any) -> Any:
            def turn(state: Any) -> Any:
                longer = covariance @ state[0]
                following = longer / jnp.linalg.norm(longer)
                return following, jnp.max(jnp.abs(following - state[0]))

            start = jnp.ones(x.shape[1]) / jnp.sqrt(x.shape[1])
            direction, _ = jax.lax.while_loop(lambda state: state[1] > tolerance, turn, (start, jnp.inf))
            variance = direction @ covariance @ direction
            return covariance - variance * jnp.outer(direction, direction), (direction, variance)

        return jax.lax.scan(component, covariance, None, length=num_components)[1]

    x = jnp.asarray(x)
    compiled = jax.jit(directions_of)
    return lambda: compiled(x)


def _eigh(jax: Any, x: Any, num_components: int) -> Callable[[], Any]:
    jnp = jax.numpy

    def directions_of(x: Any) -> Any:
        scaled = (x - x.mean(axis=0)) / x.std(axis=0)
        values, vectors = jnp.linalg.eigh(jnp.cov(scaled, rowvar=False))
        order = jnp.argsort(values)[::-1][:num_components]
        directions = vectors[:, order] * jnp.sign(vectors[0, order])
        return directions, scaled @ directions

    x = jnp.asarray(x)
    compiled = jax.jit(directions_of)
    return lambda: compiled(x)


def _rod(jax: Any, start: Any, conductivity: float, steps: int) -> Callable[[], Any]:
    def flow(start: Any) -> Any:
        def step(_: int, u: Any) -> Any:
            return u.at[1:-1].add(conductivity * (u[2:] - 2.0 * u[1:-1] + u[:-2]))

        return jax.lax.fori_loop(0, steps, step, start)

    start = jax.numpy.asarray(start)
    compiled = jax.jit(flow)
    return lambda: compiled(start)


def _plate(jax: Any, start: Any, conductivity: float, steps: int) -> Callable[[], Any]:
    def flow(start: Any) -> Any:
        def step(_: int, u: Any) -> Any:
            around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
            return u.at[1:-1, 1:-1].add(conductivity * (around - 4.0 * u[1:-1, 1:-1]))

        return jax.lax.fori_loop(0, steps, step, start)

    start = jax.numpy.asarray(start)
    compiled = jax.jit(flow)
    return lambda: compiled(start)


def _als(
    jax: Any, ratings: Any, num_factors: int, regularization: float, alpha: float, iterations: int
) -> Callable[[], Any]:
    """All users at once and no diagonal matrices, as nobody would write a loop over them here: far less work."""
    jnp = jax.numpy

    def factorize(ratings: Any, items: Any) -> Any:
        ridge = regularization * jnp.eye(num_factors)

        def solve(others: Any, rows: Any) -> Any:
            def one(row: Any) -> Any:
                weighted = others.T * (alpha * row)
                left = others.T @ others + ridge + weighted @ others
                return jnp.linalg.solve(left, (weighted + others.T) @ (row > 0))

            return jax.vmap(one)(rows)

        def step(_: int, state: Any) -> Any:
            users = solve(state[1], ratings)
            return users, solve(users, ratings.T)

        return jax.lax.fori_loop(0, iterations, step, (jnp.zeros((ratings.shape[0], num_factors)), items))

    items = np.random.default_rng(0).normal(scale=0.1, size=(ratings.shape[1], num_factors))
    ratings, items = jnp.asarray(ratings), jnp.asarray(items)
    compiled = jax.jit(factorize)
    return lambda: compiled(ratings, items)


def _kmeans(jax: Any, points: Any, num_clusters: int, iterations: int) -> Callable[[], Any]:
    jnp = jax.numpy

    def cluster(points: Any, centroids: Any) -> Any:
        def step(_: int, state: Any) -> Any:
            distances = jnp.sqrt(((points - state[0][:, None]) ** 2).sum(axis=2))
            closest = jnp.argmin(distances, axis=0)
            members = closest == jnp.arange(num_clusters)[:, None]
            return members @ points / members.sum(axis=1)[:, None], closest

        return jax.lax.fori_loop(0, iterations, step, (centroids, jnp.zeros(len(points), jnp.int64)))

    start = np.random.default_rng(0).choice(len(points), num_clusters, replace=False)
    points, centroids = jnp.asarray(points), jnp.asarray(points[start])
    compiled = jax.jit(cluster)
    return lambda: compiled(points, centroids)


_PROGRAMS: dict[str, Callable[..., Callable[[], Any]]] = {
    "logistic regression": _logistic,
    "linear regression": _linear,
    "normal equations": _normal,
    "PCA by powers": _powers,
    "PCA by eigh": _eigh,
    "heat in a rod": _rod,
    "heat in a plate": _plate,
    "ALS": _als,
    "k-means": _kmeans,
}
