"""The function sees its helpers, modules and arrays as it does in plain Python."""

from __future__ import annotations

import functools
import math
from math import exp
from typing import Any

import numpy as np
import pytest
from numpy import zeros
from tree.grad.differences import assert_gradient

from argosy.tree.grad.reverse import grad, value_and_grad

X = np.array([0.3, -0.7, 1.1])
SCALE = np.array([1.0, 2.0, 3.0])


def helper(x: Any, scale: Any = SCALE) -> Any:
    out = zeros(3)
    for i in range(3):
        out[i] = x[i] * scale[i]
    return out


def factorial_like(x: Any, n: int) -> Any:
    return x if n == 0 else x * factorial_like(x + 1, n - 1)


@functools.lru_cache
def table(n: int) -> Any:
    return np.arange(float(n))


class Model:
    def __init__(self, data: np.ndarray) -> None:
        self.data = data

    def loss(self, w: Any) -> Any:
        return np.sum((self.data @ w) ** 2)


def test_helpers_and_globals_are_followed() -> None:
    assert_gradient(lambda x: np.sum(helper(x) ** 2) + np.sum(SCALE * x), X)


def test_recursion_partials_and_caches_are_followed() -> None:
    assert_gradient(lambda x: factorial_like(x[0], 4) + np.sum(table(3) * x), X)
    assert_gradient(lambda x: np.sum(functools.partial(helper, scale=2 * SCALE)(x) ** 2), X)


def test_methods_are_followed_where_numpy_leads() -> None:
    model = Model(np.arange(6.0).reshape(2, 3))
    assert_gradient(model.loss, X)
    assert_gradient(lambda w: model.loss(w) + model.loss(2 * w), X)


def test_functions_and_classes_made_inside_and_imports_are_followed() -> None:
    def f(x: Any) -> Any:
        import math as inner_math

        import numpy as inner

        class Pair:
            def __init__(self, a: Any, b: Any) -> None:
                self.a, self.b = a, b

            def product(self) -> Any:
                out = inner.zeros(1)
                out[0] = self.a * self.b
                return out[0]

        count = 0.0

        def add(v: Any) -> None:
            nonlocal count
            count = count + v * v

        for v in x:
            add(v)
        return Pair(x[0], x[1]).product() + count + inner_math.cos(x[2])

    assert_gradient(f, X)


def test_the_functions_of_math_take_traced_numbers_and_give_floats() -> None:
    def f(x: float) -> Any:
        return (
            exp(x) + math.sin(x) * math.log(x) + math.log(x, 3) + math.sqrt(x) + math.pow(x, 2.5) + math.atan2(x, 2)
            + math.hypot(x, 1) + math.tanh(x) + math.fabs(-x) + math.floor(x) * x + math.isnan(x) + math.pi
        )  # fmt: skip

    value, slope = value_and_grad(f)(1.7)
    assert type(value) is float
    assert type(slope) is float
    assert value == pytest.approx(f(1.7), rel=1e-14)
    assert slope == pytest.approx((f(1.7 + 1e-6) - f(1.7 - 1e-6)) / 2e-6, rel=1e-7)


def test_float_int_bool_round_and_format_do_what_they_do() -> None:
    def f(x: Any) -> Any:
        assert f"{x:.2f}" == "2.60"
        assert isinstance(x, float)
        assert type(x) is float is float
        assert {float: 1}[type(x)] == 1
        assert isinstance(int, type)
        assert not isinstance(x, np.ndarray)
        assert int(x) == 2
        assert round(x) == 3
        assert bool(x)
        assert float("3") == 3.0
        assert np.zeros(2, dtype=float).dtype == np.float64
        assert max(x, 1.0) is x
        match x:
            case float():
                pass
            case _:
                raise AssertionError
        return float(x) * int(x) + round(x, 1) + sum([x, x, 1.0])

    assert grad(f)(2.6) == 4.0


def test_an_array_is_one_to_isinstance() -> None:
    def f(x: Any) -> Any:
        assert isinstance(x, np.ndarray)
        assert type(x) is np.ndarray
        assert not np.isscalar(x)
        assert np.shape(x) == (3,)
        assert len(x) == np.size(x) == 3
        assert x.dtype == np.float64
        assert x[0] in x
        assert x.tolist()[2] == x[2]
        return np.sum(np.asarray(x) * np.array(x) * np.ascontiguousarray(x, dtype=float))

    assert_gradient(f, X)


def test_a_futurized_function_is_run_plainly() -> None:
    class Futurized:
        def __init__(self, plain: Any) -> None:
            self.plain = plain
            self.__name__ = "futurized"

        def __call__(self, *args: Any) -> Any:
            raise AssertionError("the tree is not walked for a gradient")

    Futurized.__module__ = "argosy.tree.futurize"
    inner = Futurized(lambda x: np.sum(x**3))
    np.testing.assert_allclose(grad(Futurized(lambda x: inner(x) * 2))(X), 6 * X**2)


def test_arguments_may_be_nested_and_keep_their_dtypes() -> None:
    def f(parameters: Any, x: Any, *, power: float = 1.0) -> Any:
        hidden = np.tanh(parameters["layers"][0] @ x + parameters["bias"])
        return np.sum(hidden * parameters["layers"][1]) ** power

    parameters = {
        "layers": [np.full((2, 3), 0.1, np.float32), np.ones(2)],
        "bias": 0.5,
        "unused": (np.float32(1.5), np.zeros((0, 2))),
    }
    slopes = grad(f)(parameters, X, power=2.0)
    assert slopes["layers"][0].dtype == np.float32
    assert slopes["layers"][1].dtype == np.float64
    assert type(slopes["bias"]) is float
    assert type(slopes["unused"][0]) is np.float32
    assert slopes["unused"][1].shape == (0, 2)
    near = (
        f({**parameters, "bias": 0.5 + 1e-6}, X, power=2.0) - f({**parameters, "bias": 0.5 - 1e-6}, X, power=2.0)
    ) / 2e-6
    assert slopes["bias"] == pytest.approx(near, rel=1e-6)


def test_argnums_choose_the_arguments() -> None:
    def f(a: Any, b: Any, c: Any) -> Any:
        return a * b**2 + c * b

    assert grad(f, argnums=1)(2.0, 3.0, 4) == 16.0
    assert grad(f, argnums=(0, 1))(2.0, 3.0, 4) == (9.0, 16.0)
    assert grad(f, argnums=-1)(2, 3.0, 4.0) == 3.0
    assert grad(f, argnums=(2,))(2, 3.0, 4.0) == (3.0,)


def test_a_gradient_of_a_gradient_through_loops_and_closures() -> None:
    def f(x: Any) -> Any:
        def inner(y: Any) -> Any:
            table = np.zeros(2)
            table[0] = y * x
            table[1] = y**2
            while table[0] < 10:
                table *= 2
            return np.sum(table**2)

        return grad(inner)(x) * x

    value = grad(f)(1.5)
    assert value == pytest.approx((f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6, rel=1e-6)
    assert grad(grad(grad(lambda x: x**4)))(2.0) == 48.0


def test_a_gradient_is_used_in_a_descent_inside_of_a_function() -> None:
    data = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.2]])

    def fitted(rate: float) -> Any:
        w = np.zeros(2)
        for _ in range(5):
            w = w - rate * grad(lambda w: np.mean((data @ w - 1.0) ** 2))(w)
        return np.sum((data @ w - 1.0) ** 2)

    assert grad(fitted)(0.05) == pytest.approx((fitted(0.05 + 1e-6) - fitted(0.05 - 1e-6)) / 2e-6, rel=1e-6)


def test_float32_stays_float32() -> None:
    seen = []

    def f(x: Any) -> Any:
        y = x * 2.0 + np.ones(3, np.float32)
        seen.append(y.dtype)
        return np.sum(y**2)

    value, slopes = value_and_grad(f)(X.astype(np.float32))
    assert seen == [np.float32]
    assert value.dtype == slopes.dtype == np.float32


def test_a_constant_function_has_a_gradient_of_zeros() -> None:
    np.testing.assert_array_equal(grad(lambda x: 1.0)(X), np.zeros(3))
    assert grad(lambda x: 2)(1.5) == 0.0
    slopes = grad(lambda x: np.sum(x))(X)
    slopes[0] = 5.0  # the caller's own
