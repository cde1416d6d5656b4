"""What has no gradient says so, with its name and the user's line; nothing is lost in silence."""

from __future__ import annotations

import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from argosy.errors import ArgosyError, NotDifferentiable, TreeError
from argosy.tree.grad.reverse import grad, value_and_grad

X = np.array([0.3, 0.7, 1.1])
BAD: dict[str, tuple[Any, str]] = {
    "an unknown function": (lambda x: np.sum(np.convolve(x, x)), r"np.convolve is not known"),
    "an unknown ufunc": (lambda x: np.sum(np.spacing(x)), r"np.spacing is not known"),
    "an unknown method": (lambda x: np.sum(np.frombuffer(x.tobytes())), r"ndarray.tobytes is not known"),
    "an unknown option": (lambda x: np.sum(x, where=x > 0.5), r"np.sum with where= is not known"),
    "too many arguments by place": (lambda x: np.sum(x, 0, None, None, True), r"np.sum with 5 arguments by place"),
    "an unknown way to call a ufunc": (lambda x: np.sum(np.multiply.accumulate(x)), r"np.multiply.accumulate"),
    "a masked ufunc": (lambda x: np.sum(np.exp(x, where=x > 0.5, out=np.zeros(3))), r"np.exp with where="),
    "a plain array made by a library": (lambda x: np.sum(np.vectorize(math.sqrt)(x)), r"to a plain"),
    "an unknown function of math": (lambda x: math.gamma(x[0]), r"to a plain float"),
    "complex numbers": (lambda x: np.sum(np.abs(x.astype(complex))), r"a result of complex128"),
    "a complex power": (lambda x: abs((-x[0].item()) ** 0.5), r"a result of complex128"),
    "pickling": (lambda x: pickle.loads(pickle.dumps(x))[0], r"pickling something traced"),
    "a NumPy scalar": (lambda x: np.float32(x[0]) * x[1], r"to a plain"),
    "an object array": (lambda x: np.array([x, None], dtype=object)[0][0], r"object"),
    "einsum with a diagonal": (lambda x: np.einsum("ii->", np.outer(x, x)), r"has twice"),
    "svd with all vectors": (lambda x: np.linalg.svd(x[None] * x[:2, None])[0][0, 0], r"full_matrices=False"),
    "a view that is not followed": (
        lambda x: np.sum(np.lib.stride_tricks.sliding_window_view(np.zeros(3), 2) * x[0]),
        r"np.sliding_window_view gives a view that is not followed",
    ),
    "a writer": (lambda x: np.put(np.zeros(3), [0], x[0]) or x[0], r"np.put writes"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_known_is_named_with_its_line(name: str) -> None:
    f, message = BAD[name]
    with pytest.raises(NotDifferentiable, match=message) as caught:
        grad(f)(X)
    assert "at test_refusals.py, line" in str(caught.value)


def test_the_line_is_that_of_the_helper_in_which_it_happened() -> None:
    def helper(x: Any) -> Any:
        return np.fft.fft(x)

    with pytest.raises(NotDifferentiable, match=r"\(return np.fft.fft\(x\)\)"):
        grad(lambda x: np.sum(helper(x)))(X)


@pytest.mark.parametrize("argument", [3, True, np.arange(3), "x", None, 1j, np.zeros(2, complex), [1.0, 2]])
def test_only_floats_have_a_gradient(argument: Any) -> None:
    with pytest.raises(NotDifferentiable, match=r"argument 0 is .*only floats and arrays of floats"):
        grad(lambda x: 1.0)(argument)


@pytest.mark.parametrize("result", [np.zeros(3), np.zeros(1), None, "x", (1.0, 2.0), 1j])
def test_the_function_must_return_one_real_number(result: Any) -> None:
    with pytest.raises(NotDifferentiable, match=r"the function returned an? .*needs one real number"):
        grad(lambda x: result)(1.0)
    with pytest.raises(NotDifferentiable, match=r"the function returned an array of shape \(3,\)"):
        grad(lambda x: x * 2)(X)


def test_argnums_must_be_there() -> None:
    with pytest.raises(TypeError, match="argnums=2 asks for an argument that is not there: 1 were given"):
        grad(lambda x: x, argnums=2)(1.0)
    with pytest.raises(TypeError, match="argnums must be the place of an argument or a tuple of places, not 'x'"):
        grad(lambda x: x, argnums="x")  # type: ignore[arg-type]


def test_a_refusal_that_the_function_catches_is_raised_all_the_same() -> None:
    def f(x: Any) -> Any:
        try:
            return math.gamma(x)
        except TypeError:
            return x

    with pytest.raises(NotDifferentiable, match="plain float"):
        grad(f)(2.0)


def test_a_refusal_in_a_thread_of_the_function_is_raised_too() -> None:
    def f(x: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(lambda: np.zeros(1).__setitem__(0, x))
            return x if done.exception() else 0.0

    with pytest.raises(NotDifferentiable):
        grad(f)(2.0)


COUNT = 0


def test_a_function_that_assigns_variables_from_outside_is_refused() -> None:
    count = 0

    def of_the_module(x: Any) -> Any:
        global COUNT
        COUNT += 1
        return x

    def of_the_outer_function(x: Any) -> Any:
        nonlocal count
        count += 1
        return x

    for f, name in ((of_the_module, "COUNT"), (of_the_outer_function, "count")):
        with pytest.raises(NotDifferentiable, match=f"{f.__name__} assigns '{name}', a variable from outside"):
            grad(f)(1.0)


def test_an_exception_of_the_function_comes_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        grad(lambda x: 1.0 / (x - x))(2.0)
    with pytest.raises(ValueError, match="could not be broadcast"):
        grad(lambda x: np.sum(x + np.zeros(4)))(X)
    with pytest.raises(IndexError, match="out of bounds"):
        grad(lambda x: x[7])(X)
    with pytest.raises(TypeError, match="Cannot cast ufunc"):
        grad(lambda x: np.sum(np.zeros(3, int).__iadd__(np.ones(3) * 0.5)) * x)(1.0)


def test_a_traced_value_that_leaves_the_call_is_a_plain_constant_later() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x * 2)
        return x * x

    assert grad(f)(3.0) == 6.0
    assert float(kept[0]) == 6.0
    value, slope = value_and_grad(lambda x: x * kept[0])(2.0)
    assert (value, slope) == (12.0, 6.0)


def test_the_error_is_of_its_branch() -> None:
    assert issubclass(NotDifferentiable, TreeError | TypeError)
    assert issubclass(TreeError, ArgosyError)
    assert str(pickle.loads(pickle.dumps(NotDifferentiable("why")))) == "why"
