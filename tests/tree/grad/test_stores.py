"""Stores in place: what is written is differentiated, and what was read before keeps its value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tree.grad.differences import assert_gradient

from argosy.errors import NotDifferentiable
from argosy.tree.grad.reverse import grad

X = np.array([0.3, -0.7, 1.1, 0.4])


def test_a_store_into_a_new_array_is_differentiated() -> None:
    def f(x: Any) -> Any:
        a = np.zeros((4, 4))
        for i in range(4):
            a[i, :] = x * (i + 1)
            a[i, i] = x[i] ** 2
        return np.sum(np.sin(a))

    assert_gradient(f, X)


def test_a_value_that_was_overwritten_keeps_its_part_in_the_gradient() -> None:
    def f(x: Any) -> Any:
        a = x * 2
        squared = a * a
        a[:] = 1.0
        return np.sum(squared) + np.sum(a * x)

    np.testing.assert_allclose(grad(f)(X), 8 * X + 1)


def test_a_view_sees_what_its_array_got_and_the_other_way_round() -> None:
    def f(x: Any) -> Any:
        a = np.zeros((2, 4))
        row, column = a[1], a.T[2]
        a[1] = x
        row *= 3
        column[0] = x[0] * x[1]
        return np.sum(a**2) + np.sum(row * x)

    assert_gradient(f, X)


@pytest.mark.parametrize("uses", [1, 2])
def test_a_store_through_a_reshaped_view_of_an_array_in_the_order_of_fortran(uses: int) -> None:
    weights = np.arange(12.0).reshape(4, 3).T

    def f(x: Any) -> Any:
        a = np.ones((4, 3)).T * x[0]
        flat = a.T.reshape(-1)
        flat[2:6] = x
        flat[3:5] *= 2
        return sum(np.sum(a * weights * (k + 1)) for k in range(uses)) + np.sum(flat**2)

    assert_gradient(f, X)


def test_an_array_that_moves_within_itself() -> None:
    def f(x: Any) -> Any:
        x[1:] = x[:-1]
        x[::-1] += x
        return np.sum(x * np.arange(1.0, 5.0))

    assert_gradient(f, X)


def test_of_values_stored_into_one_place_the_last_counts() -> None:
    def f(x: Any) -> Any:
        a = np.zeros(3)
        a[[0, 0, 2]] = x[:3]
        return np.sum(a * np.array([1.0, 10.0, 100.0]))

    np.testing.assert_array_equal(grad(f)(X), [0, 1, 100, 0])


def test_add_at_adds_up_what_comes_twice() -> None:
    def f(x: Any) -> Any:
        sums = np.zeros(2)
        np.add.at(sums, [0, 1, 0, 1], x)
        np.subtract.at(sums, [1], x[0])
        return np.sum(sums**2)

    assert_gradient(f, X)


def test_a_store_by_a_mask_and_an_index_array_that_changes_afterwards() -> None:
    def f(x: Any) -> Any:
        a = x * 1.5
        where = np.array([0, 2])
        mask = x > 0.35
        a[mask] = x[mask] ** 2
        picked = a[where]
        where[:] = 1
        mask[:] = False
        return np.sum(picked * picked) + np.sum(a)

    assert_gradient(f, X)


@pytest.mark.parametrize("fill", ["fill", "copyto", "diagonal", "sort", "out", "full"])
def test_functions_that_write_in_place(fill: str) -> None:
    def f(x: Any) -> Any:
        a = np.ones((2, 2)) * x[0]
        if fill == "fill":
            a.fill(x[1])
        elif fill == "copyto":
            np.copyto(a, x.reshape(2, 2), where=np.array([True, False]))
        elif fill == "diagonal":
            np.fill_diagonal(a, x[:2])
        elif fill == "sort":
            a = x * 2
            a.sort()
        elif fill == "out":
            np.multiply(x.reshape(2, 2), 3, out=a)
        else:
            a = np.full(4, x[2])
        return np.sum(np.sin(a.ravel()) * np.arange(1.0, 5.0))

    assert_gradient(f, X)


def test_the_callers_arrays_stay_as_they_are() -> None:
    def f(x: Any, other: Any, many: Any) -> Any:
        x[0] = 5.0
        other[1] = x[2] ** 2
        many[0][:] = x
        many.append(1)
        return np.sum(x**2) + np.sum(other) + np.sum(many[0])

    x, other, many = X.copy(), np.ones(4), [np.zeros(4)]
    np.testing.assert_allclose(grad(f)(x, other, many), 2 * X * [0, 1, 1, 1] + [0, 1, 1 + 2 * X[2], 1])
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(other, np.ones(4))
    np.testing.assert_array_equal(many[0], np.zeros(4))
    assert len(many) == 1


OUTSIDE = np.zeros(4)


def test_a_store_into_an_array_from_outside_is_refused() -> None:
    def f(x: Any) -> Any:
        OUTSIDE[:] = x
        return np.sum(OUTSIDE)

    with pytest.raises(NotDifferentiable, match=r"from outside of the function, at test_stores.py, line \d+ \(OUTSIDE"):
        grad(f)(X)


def test_a_plain_store_into_an_array_from_outside_is_done_there() -> None:
    counts = np.zeros(2)

    def f(x: Any) -> Any:
        before = np.sum(x[:2] * counts)
        counts[0] += 1
        return before + np.sum(x[:2] * counts)

    np.testing.assert_array_equal(grad(f)(X), [1, 0, 0, 0])
    np.testing.assert_array_equal(counts, [1, 0])


def test_a_store_into_an_array_from_outside_that_is_an_argument_too_is_refused() -> None:
    def f(x: Any, scale: Any) -> Any:
        product = np.sum(x * scale)
        OUTSIDE[0] = 5.0
        return product

    with pytest.raises(NotDifferentiable, match="an argument too"):
        grad(f)(X, OUTSIDE)


def test_a_plain_array_that_changes_after_its_use_counts_as_it_was() -> None:
    rng = np.random.default_rng(1)

    def f(x: Any) -> Any:
        noise = rng.normal(size=4)
        first = noise.tolist()
        product = np.sum(x * noise)
        noise *= 0
        return product + np.sum(x * noise) + 0 * np.sum(np.array(first))

    expected = np.random.default_rng(1).normal(size=4)
    np.testing.assert_array_equal(grad(f)(X), expected)


def test_a_store_into_a_plain_array_is_refused_and_never_lost() -> None:
    class Box:
        a = np.zeros(4)

    def one(x: Any) -> Any:
        Box.a[0] = x[0]
        return np.sum(Box.a)

    def all_of_it(x: Any) -> Any:
        Box.a[:] = x
        return np.sum(Box.a)

    def caught(x: Any) -> Any:
        try:
            Box.a[:] = x
        except TypeError:
            return np.sum(x)
        return np.sum(Box.a)

    def in_place(x: Any) -> Any:
        a = Box.a
        a += x
        return np.sum(a)

    for f in (one, all_of_it, caught, in_place):
        with pytest.raises(NotDifferentiable, match=r"at test_stores\.py, line"):
            grad(f)(X)


def test_a_store_into_an_array_of_integers_is_refused() -> None:
    def f(x: Any) -> Any:
        a = np.zeros(4, dtype=int)
        a[0] = x[0]
        return np.sum(a)

    with pytest.raises(NotDifferentiable, match="into an array of int64"):
        grad(f)(X)


def test_the_memory_of_a_loop_is_freed_where_the_way_back_does_not_need_it() -> None:
    import tracemalloc

    def f(x: Any) -> Any:
        total = 0.0
        for _ in range(50):
            total = total + np.sum(x * 2.0 + 1.0)
        return total

    big = np.ones(100_000)
    tracemalloc.start()
    grad(f)(big)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * big.nbytes
