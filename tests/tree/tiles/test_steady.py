"""Whether the bits of an element depend on where it lies."""

import operator

import numpy as np
import pytest

from argosy.tree.tiles.steady import Steadiness, is_same, steadiness

F8 = np.dtype("f8")
EVERYTHING = Steadiness.FORWARD | Steadiness.BACKWARD | Steadiness.REPEATED


@pytest.mark.parametrize("function", [np.add, np.subtract, np.multiply, np.divide, np.less])
def test_what_the_standard_of_floating_point_defines_is_the_same_everywhere(function: np.ufunc) -> None:
    assert steadiness(function, (F8, F8)) == EVERYTHING
    assert steadiness(np.sqrt, (F8,)) == EVERYTHING


def test_whole_numbers_have_only_one_answer() -> None:
    assert steadiness(operator.pow, (np.dtype("i8"), np.dtype("i8"))) == EVERYTHING


def test_a_function_that_treats_the_tail_otherwise_is_found() -> None:
    def with_a_tail(array: np.ndarray) -> np.ndarray:
        answer = array * 1.1
        body = len(array) // 8 * 8
        answer[body:] = np.nextafter(answer[body:], np.inf)
        return answer

    assert steadiness(with_a_tail, (F8,)) == Steadiness.NONE


def test_a_function_that_treats_strides_otherwise_is_found() -> None:
    def with_strides(array: np.ndarray) -> np.ndarray:
        return array * 1.1 if array.strides == (8,) else np.nextafter(array * 1.1, np.inf)

    assert steadiness(with_strides, (F8,)) == Steadiness.NONE


def test_a_function_that_runs_backwards_otherwise_is_known_for_it() -> None:
    def backwards(array: np.ndarray) -> np.ndarray:
        return array * 1.1 if array.strides[0] >= 0 else np.nextafter(array * 1.1, np.inf)

    assert steadiness(backwards, (F8,)) == Steadiness.FORWARD | Steadiness.REPEATED


def test_a_function_that_treats_one_number_for_all_otherwise_is_known_for_it() -> None:
    def repeated(array: np.ndarray) -> np.ndarray:
        return array * 1.1 if array.strides[0] else np.nextafter(array * 1.1, np.inf)

    assert steadiness(repeated, (F8,)) == Steadiness.FORWARD | Steadiness.BACKWARD


def test_two_functions_are_one_only_with_the_same_bits_and_dtype() -> None:
    assert is_same(np.square, lambda array: array * array, F8)
    assert not is_same(np.square, lambda array: (array * array).astype("f4"), F8)
    assert not is_same(np.exp, lambda array: np.nextafter(np.exp(array), np.inf), F8)
