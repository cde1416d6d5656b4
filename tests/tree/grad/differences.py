"""Gradients by central differences, to hold others against."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from argosy.tree.grad.reverse import value_and_grad


def by_differences(f: Callable[..., Any], x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    slopes = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        slopes[place] = (float(f(up)) - float(f(down))) / (2 * step)
    return slopes


def assert_gradient(f: Callable[..., Any], x: np.ndarray, tolerance: float = 1e-5) -> None:
    """The value is that of the plain function, and the gradient that of central differences."""
    value, slopes = value_and_grad(f)(x.copy())
    np.testing.assert_allclose(value, f(x.copy()), rtol=1e-12, atol=1e-14)
    expected = by_differences(f, x)
    assert slopes.shape == x.shape
    assert slopes.dtype == x.dtype
    np.testing.assert_allclose(
        slopes, expected, rtol=tolerance, atol=tolerance * max(1.0, np.abs(expected).max(initial=0))
    )
