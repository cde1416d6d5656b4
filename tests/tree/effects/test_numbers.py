"""Which calls give one array of numbers, or a number, and which may give anything: a tuple, or an array of objects."""

from __future__ import annotations

import pytest
from tree.effects.seen import Piece

from argosy.tree.kinds import RESULT, VALUE

METHODS = [
    *("copy()", "sum()", "mean()", "dot(b)", "max()", "min()", "argmin()", "argmax()", "std()", "var()", "prod()"),
    *("cumsum()", "cumprod()", "round()", "clip(0, 1)", "take([0])", "repeat(2)", "trace()", "any()", "all()"),
    *("argsort()", "searchsorted(0.5)", "flatten()", "astype(float)"),
]
WITH_DTYPE = [
    *("np.zeros(3, {})", "np.ones(3, {})", "np.empty(3, {})", "np.identity(3, {})", "np.zeros_like(a, {})"),
    *("np.ones_like(a, {})", "np.empty_like(a, {})", "np.arange(0, 3, 1, {})"),
    *("np.eye(3, 3, 0, {})", "np.sum(a, 0, {})", "np.mean(a, 0, {})", "np.prod(a, 0, {})"),
    *("np.cumsum(a, 0, {})", "np.zeros(3, dtype={})", "a.astype({})"),
]


def kind_of(expression: str) -> object:
    return Piece(f"x = {expression}").effects().outs[0].kind


@pytest.mark.parametrize("call", METHODS)
def test_a_method_of_an_array_that_gives_numbers(call: str) -> None:
    assert kind_of(f"m.{call}") is VALUE


@pytest.mark.parametrize("call", WITH_DTYPE)
def test_a_dtype_decides_whether_numbers_are_made(call: str) -> None:
    for of_numbers in ("float", "'i4'", "None", "a.dtype", "np.float32"):
        assert kind_of(call.format(of_numbers)) is VALUE
    for of_any in ("object", "'O'", "s"):
        assert kind_of(call.format(of_any)) is RESULT


@pytest.mark.parametrize(
    "call", ["np.linalg.eigh(m)", "np.divmod(a, b)", "np.split(a, 2)", "a.nonzero()", "a.tolist()"]
)
def test_what_gives_a_tuple_or_a_list_is_any_result(call: str) -> None:
    assert kind_of(call) is RESULT
