"""A function that has a parameter `comm` gets a communicator, wherever it stands."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from argosy.comm.parameter import by_keyword, fill

COMM = object()


def first(comm: Any, x: Any, y: Any = 0) -> tuple[Any, ...]:
    return comm, x, y


def middle(x: Any, comm: Any, y: Any = 0) -> tuple[Any, ...]:
    return comm, x, y


def last(x: Any, y: Any = 0, comm: Any = None) -> tuple[Any, ...]:
    return comm, x, y


def by_name(x: Any, y: Any = 0, *, comm: Any) -> tuple[Any, ...]:
    return comm, x, y


def by_place(comm: Any, x: Any, y: Any = 0, /) -> tuple[Any, ...]:
    return comm, x, y


def behind_defaults(x: Any, y: Any = 0, comm: Any = None, /) -> tuple[Any, ...]:
    return comm, x, y


def before_the_rest(comm: Any, *rest: Any) -> tuple[Any, ...]:
    return comm, *rest, *[0] * (2 - len(rest))


def decorated(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    return inner


def by_place_alone(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def inner(*args: Any) -> Any:
        return fn(*args)

    return inner


class Model:
    def method(self, comm: Any, x: Any, y: Any = 0) -> tuple[Any, ...]:
        return comm, x, y

    @classmethod
    def of_the_class(cls, x: Any, comm: Any, y: Any = 0) -> tuple[Any, ...]:
        return comm, x, y

    @staticmethod
    def of_nobody(comm: Any, x: Any, y: Any = 0) -> tuple[Any, ...]:
        return comm, x, y

    def __call__(self, comm: Any, x: Any, y: Any = 0) -> tuple[Any, ...]:
        return comm, x, y


class Bound(functools.partial[Any]):
    pass


FUNCTIONS = [
    first, middle, last, by_name, by_place, behind_defaults, before_the_rest, Model().method, Model.of_the_class,
    Model.of_nobody, Model(), decorated(first), decorated(by_name), decorated(decorated(middle)),
    by_place_alone(middle), by_place_alone(last),
    functools.lru_cache(first), functools.partial(first), functools.partial(decorated(first)), Bound(first),
    lambda comm, x, y=0: (comm, x, y),
]  # fmt: skip


def call(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    filled = fill(fn, args, kwargs, COMM)
    assert filled is not None
    return filled.fn(*filled.args, **filled.kwargs)


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_comm_is_filled_in_by_name_wherever_it_stands(fn: Callable[..., Any]) -> None:
    assert call(fn, 1) == (COMM, 1, 0)
    assert call(fn, 1, 2) == (COMM, 1, 2)


@pytest.mark.parametrize("fn", [first, middle, last, by_name, decorated(first), Model().method])
def test_keywords_may_be_mixed_with_it(fn: Callable[..., Any]) -> None:
    assert call(fn, x=1) == (COMM, 1, 0)
    assert call(fn, y=2, x=1) == (COMM, 1, 2)
    assert call(functools.partial(fn, 1), 2) == (COMM, 1, 2)
    assert call(functools.partial(fn, y=2), 1) == (COMM, 1, 2)
    assert call(functools.partial(functools.partial(fn, 1), y=3), y=2) == (COMM, 1, 2)


def test_a_decorator_that_adds_an_argument_of_its_own_gets_comm_by_keyword() -> None:
    def logs(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def inner(*args: Any, **kwargs: Any) -> Any:
            return fn("log", *args, **kwargs)

        return inner

    assert call(logs(lambda log, x, comm: (comm, log, x)), 1) == (COMM, "log", 1)


class Shy:
    """Fails when it is asked what it takes."""

    @property
    def __signature__(self) -> Any:
        raise RuntimeError("never")

    def __call__(self, x: Any) -> Any:
        return x


def only_keywords(**comm: Any) -> Any:
    return comm


def has_a_variable(x: Any) -> Any:
    comm = x + 1
    return comm * comm


def hides_it(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def inner(x: Any) -> Any:
        return fn(None, x)

    return inner


@pytest.mark.parametrize(
    "fn", [abs, print, len, only_keywords, has_a_variable, hides_it(first), dict, Model, "".join, Shy()]
)
def test_who_has_no_such_parameter_gets_none(fn: Callable[..., Any]) -> None:
    assert fill(fn, (1,), {}, COMM) is None
    assert by_keyword(fn) is None


@pytest.mark.parametrize("fn", [first, last, by_name, decorated(first), functools.partial(first), Model()])
def test_a_call_that_gives_comm_itself_is_told_that_it_must_not(fn: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match="leave comm= out"):
        fill(fn, (1,), {"comm": None}, COMM)


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ((), {}, "first.*missing a required argument: 'x'; it takes .*x.*, and comm by itself"),
        ((1, 2, 3), {}, "first.*too many positional arguments"),
        ((1,), {"z": 1}, "first.*'z'"),
        ((1,), {"x": 1}, "first.*multiple values for argument 'x'"),
    ],
)
def test_a_call_that_does_not_fit_is_an_error_that_says_what_does(
    args: tuple[Any, ...], kwargs: dict[str, Any], words: str
) -> None:
    with pytest.raises(TypeError, match=words):
        fill(first, args, kwargs, COMM)


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (by_place_alone(by_name), "by_name.. takes comm by keyword, but a decorator above it passes on no keywords"),
        (by_place_alone(middle), "too many positional arguments; it takes .*, and comm by itself"),
    ],
)
def test_a_decorator_that_cannot_pass_it_on_is_told_of(fn: Callable[..., Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        fill(fn, (1,) if fn.__name__ == "by_name" else (1, 2, 3), {}, COMM)


def test_a_partial_of_any_kind_is_looked_through_and_its_function_is_named() -> None:
    assert call(Bound(middle, 1), 2) == (COMM, 1, 2)
    with pytest.raises(TypeError, match=r"first\(\) is given comm"):
        fill(functools.partial(first, comm=None), (1,), {}, COMM)
