"""The comparison of programs sees what it should see: stand-ins for `futurize` that are wrong in one way each."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tree.programs.runner import specimen
from tree.programs.runner.compare import trouble
from tree.programs.runner.program import Program


def _program(length: int = 1) -> Program:
    return Program(
        name="study",
        function=specimen.study,
        arguments=lambda: (np.array([0.0, 1.0, 2.0]), [0] * length),
        keywords=dict,
        touches=("LOG",),
    )


def _after(change: Callable[[Any, tuple[Any, ...]], Any]) -> Callable[..., Any]:
    """A stand-in that calls the plain function and then changes something."""

    def futurize(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*arguments: Any) -> Any:
            return change(function(*arguments), arguments)

        return call

    return futurize


def _stored(target: Any, place: Any, value: Any, answer: Any) -> Any:
    target[place] = value
    return answer


def _said(answer: Any) -> Any:
    print("more")
    return answer


def _warned(answer: Any) -> Any:
    warnings.warn("more", RuntimeWarning, stacklevel=1)
    return answer


def test_a_stand_in_that_calls_the_plain_function_is_no_trouble() -> None:
    for length in (1, 9):
        assert trouble(_program(length), _after(lambda answer, _: answer), times=2) is None


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda r, a: (r[0], r[1].copy(), r[2]), "state"),
        (lambda r, a: (r[0], r[1].copy()[:], r[2]), "state"),
        (lambda r, a: (r[0], r[1], list(r[2])), "state"),
        (lambda r, a: (r[0].copy(order="F") * 1, r[0], r[2]), "state"),
        (lambda r, a: (np.nextafter(r[0], 9), *r[1:]), "state"),
        (lambda r, a: [*r], "state"),
        (lambda r, a: (r[0].astype(">f8"), *r[1:]), "state"),
        (lambda r, a: _stored(a[0], 0, -0.0, r), "state"),
        (lambda r, a: _stored(a[1], 0, False, r), "state"),
        (lambda r, a: _stored(specimen.LOG, 0, 99, r), "state"),
        (lambda r, a: (np.random.rand(), r)[1], "state"),
        (lambda r, a: (np.seterr(divide="ignore"), r)[1], "state"),
        (lambda r, a: _said(r), "said"),
        (lambda r, a: _warned(r), "said"),
        (lambda r, a: 1 / 0, "ended"),
    ],
)
def test_a_change_after_the_call_is_found(change: Callable[[Any, Any], Any], where: str | None) -> None:
    found = trouble(_program(), _after(change))
    assert (found is None) == (where is None)
    if where:
        assert found is not None
        assert f": {where}" in found


def _reordered(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(a: Any, xs: Any) -> Any:
        print("start")
        print("middle")
        b = 1 / a
        a[1] = 5.0
        xs.append(b)
        specimen.LOG.append(len(xs))
        return b, a[1:], xs

    return call


def test_a_warning_that_comes_after_a_later_line_is_found() -> None:
    found = trouble(_program(), _reordered)
    assert found is not None
    assert ": said" in found


def test_an_exception_without_its_line_is_found() -> None:
    def futurize(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except ValueError as error:
                failed = error
            raise failed.with_traceback(None)

        return call

    found = trouble(_program(9), futurize)
    assert found is not None
    assert ": ended" in found


def test_an_array_that_changes_after_the_call_has_returned_is_found() -> None:
    kept: list[Any] = []

    def futurize(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(a: Any, xs: Any) -> Any:
            for old in kept:
                old[2] = 7.0
            kept.append(a)
            return function(a, xs)

        return call

    found = trouble(_program(), futurize, times=2)
    assert found is not None
    assert "after call 1 had returned" in found
