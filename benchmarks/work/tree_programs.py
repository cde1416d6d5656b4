"""Programs of the literature in plain NumPy, written as their authors would, and arguments for them.

Nothing here knows of Argosy: a benchmark or a test futurizes `Program.run` as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Sizes = tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """A function of plain NumPy, and how to make its arguments. It leaves them as they are."""

    run: Callable[..., Any]
    make: Callable[..., tuple[Any, ...]]
    """Of the sizes; the same arguments each time."""
    small: Sizes
    """Enough to see whether the answer is right."""
    large: tuple[Sizes, ...]
    """Those that are timed."""


def logistic_regression(x: Array, y: Array, alpha: float, iterations: int) -> Array:
    """By gradient descent over all samples."""
    weights = np.zeros(x.shape[1])
    for _ in range(iterations):
        scores = x @ weights
        predicted = 1.0 / (1.0 + np.exp(-scores))
        error = predicted - y
        gradient = x.T @ error
        weights -= alpha * gradient
    return weights


def linear_regression(x: Array, y: Array, alpha: float, iterations: int) -> tuple[Array, float]:
    """By gradient descent over all samples; the weights and the mean squared error."""
    weights = np.zeros(x.shape[1])
    for _ in range(iterations):
        error = x @ weights - y
        gradient = 2.0 * (x.T @ error) / len(y)
        weights = weights - alpha * gradient
    residual = x @ weights - y
    return weights, float(np.mean(residual**2))


def normal_equations(x: Array, y: Array, regularization: float) -> tuple[Array, float]:
    """Linear regression with an intercept, solved at once; the weights and the share of variance they explain."""
    design = np.column_stack([np.ones(len(x)), x])
    gram = design.T @ design + regularization * np.eye(design.shape[1])
    moments = design.T @ y
    weights = np.linalg.solve(gram, moments)
    residual = y - design @ weights
    explained = 1.0 - np.sum(residual**2) / np.sum((y - y.mean()) ** 2)
    return weights, float(explained)


def pca_by_powers(x: Array, num_components: int, tolerance: float) -> tuple[Array, Array]:
    """The main directions of the rows and the variance along them: power iteration, then the next."""
    centred = x - x.mean(axis=0)
    covariance = centred.T @ centred / (len(x) - 1)
    directions = np.empty((num_components, x.shape[1]))
    variances = np.empty(num_components)
    for component in range(num_components):
        direction = np.ones(x.shape[1]) / np.sqrt(x.shape[1])
        change = np.inf
        while change > tolerance:
            longer = covariance @ direction
            following = longer / np.linalg.norm(longer)
            change = np.max(np.abs(following - direction))
            direction = following
        variance = direction @ covariance @ direction
        covariance = covariance - variance * np.outer(direction, direction)
        directions[component, :] = direction
        variances[component] = variance
    return directions, variances


def pca_by_eigh(x: Array, num_components: int) -> tuple[Array, Array]:
    """The main directions of the rows, and the rows along them."""
    scaled = (x - x.mean(axis=0)) / x.std(axis=0)
    covariance = np.cov(scaled, rowvar=False)
    values, vectors = np.linalg.eigh(covariance)
    order = np.argsort(values)[::-1][:num_components]
    directions = vectors[:, order] * np.sign(vectors[0, order])
    return directions, scaled @ directions


def heat_line(start: Array, conductivity: float, steps: int) -> Array:
    """Heat along a rod whose ends keep their temperature."""
    u = start.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + conductivity * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


def heat_plate(start: Array, conductivity: float, steps: int) -> Array:
    """Heat in a plate whose rim keeps its temperature."""
    u = start.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + conductivity * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        )
    return u


def als(ratings: Array, num_factors: int, regularization: float, alpha: float, iterations: int) -> tuple[Array, Array]:
    """Factors of users and items from implicit feedback: alternating least squares, one user or item after another."""
    num_users, num_items = ratings.shape
    generator = np.random.default_rng(0)
    users = np.zeros((num_users, num_factors))
    items = generator.normal(scale=0.1, size=(num_items, num_factors))
    confidence = alpha * ratings
    ridge = regularization * np.eye(num_factors)
    every_user = np.eye(num_users)
    every_item = np.eye(num_items)
    for _ in range(iterations):
        common = items.T @ items + ridge
        for u in range(num_users):
            weights = np.diag(confidence[u, :])
            liked = (ratings[u, :] > 0).astype(float)
            left = common + np.dot(np.dot(items.T, weights), items)
            right = np.dot(np.dot(items.T, weights + every_item), liked)
            users[u, :] = np.linalg.solve(left, right)
        common = users.T @ users + ridge
        for i in range(num_items):
            weights = np.diag(confidence[:, i])
            liked = (ratings[:, i] > 0).astype(float)
            left = common + np.dot(np.dot(users.T, weights), users)
            right = np.dot(np.dot(users.T, weights + every_user), liked)
            items[i, :] = np.linalg.solve(left, right)
    return users, items


def kmeans(points: Array, num_clusters: int, iterations: int) -> tuple[Array, Array]:
    """Centroids, and for each point which of them is closest."""
    generator = np.random.default_rng(0)
    centroids = points[generator.choice(len(points), num_clusters, replace=False)]
    for _ in range(iterations):
        distances = np.sqrt(((points - centroids[:, np.newaxis]) ** 2).sum(axis=2))
        closest = np.argmin(distances, axis=0)
        centroids = np.array([points[closest == cluster].mean(axis=0) for cluster in range(num_clusters)])
    return centroids, closest


def classified(num_rows: int, num_columns: int, iterations: int) -> tuple[Any, ...]:
    """Samples on two sides of a plane, some of them on the wrong one."""
    draw = np.random.default_rng(1)
    x = draw.normal(size=(num_rows, num_columns))
    y = (x @ draw.normal(size=num_columns) + draw.normal(size=num_rows) > 0).astype(float)
    return x, y, 1e-3, iterations


def measured(num_rows: int, num_columns: int) -> tuple[Array, Array]:
    """Samples on a plane, with noise."""
    draw = np.random.default_rng(2)
    x = draw.normal(size=(num_rows, num_columns))
    return x, x @ draw.normal(size=num_columns) + 0.1 * draw.normal(size=num_rows)


def correlated(num_rows: int, num_columns: int) -> Array:
    """Samples with some directions along which they vary more, each by half as much again as the next."""
    draw = np.random.default_rng(3)
    return draw.normal(size=(num_rows, num_columns)) * 1.5 ** -np.arange(num_columns).clip(max=20)


def rated(num_users: int, num_items: int, num_factors: int, iterations: int) -> tuple[Any, ...]:
    """One rating in ten is there."""
    draw = np.random.default_rng(4)
    ratings = draw.integers(1, 6, size=(num_users, num_items)) * (draw.random((num_users, num_items)) < 0.1)
    return ratings.astype(float), num_factors, 0.1, 40.0, iterations


def grouped(num_points: int, num_columns: int, num_clusters: int, iterations: int) -> tuple[Any, ...]:
    """Points around so many places that no cluster is ever empty."""
    draw = np.random.default_rng(5)
    places = draw.normal(scale=3.0, size=(num_clusters, num_columns))
    points = places[draw.integers(num_clusters, size=num_points)] + draw.normal(size=(num_points, num_columns))
    return points, num_clusters, iterations


def _linear(num_rows: int, num_columns: int, iterations: int) -> tuple[Any, ...]:
    return *measured(num_rows, num_columns), 0.1, iterations


def _normal(num_rows: int, num_columns: int) -> tuple[Any, ...]:
    return *measured(num_rows, num_columns), 1e-6


def _powers(num_rows: int, num_columns: int, num_components: int) -> tuple[Any, ...]:
    return correlated(num_rows, num_columns), num_components, 1e-9


def _eigh(num_rows: int, num_columns: int, num_components: int) -> tuple[Any, ...]:
    return correlated(num_rows, num_columns), num_components


def _rod(num_cells: int, steps: int) -> tuple[Any, ...]:
    return np.random.default_rng(6).random(num_cells), 0.25, steps


def _plate(num_cells: int, steps: int) -> tuple[Any, ...]:
    return np.random.default_rng(7).random((num_cells, num_cells)), 0.2, steps


PROGRAMS = {
    "logistic regression": Program(
        run=logistic_regression, make=classified, small=(20, 5, 7), large=((100, 100, 1000), (2000, 2000, 20))
    ),
    "linear regression": Program(
        run=linear_regression, make=_linear, small=(30, 4, 6), large=((100, 10, 1000), (20_000, 50, 50))
    ),
    "normal equations": Program(run=normal_equations, make=_normal, small=(30, 4), large=((200_000, 20),)),
    "PCA by powers": Program(run=pca_by_powers, make=_powers, small=(40, 5, 2), large=((20_000, 60, 5),)),
    "PCA by eigh": Program(run=pca_by_eigh, make=_eigh, small=(40, 5, 2), large=((20_000, 60, 5),)),
    "heat in a rod": Program(run=heat_line, make=_rod, small=(24, 9), large=((1000, 2000), (2_000_000, 10))),
    "heat in a plate": Program(run=heat_plate, make=_plate, small=(12, 5), large=((100, 500), (1500, 10))),
    "ALS": Program(run=als, make=rated, small=(9, 7, 3, 2), large=((300, 300, 10, 1), (500, 500, 4, 1))),
    "k-means": Program(run=kmeans, make=grouped, small=(60, 2, 3, 4), large=((100_000, 3, 8, 5), (20_000, 10, 8, 5))),
}
