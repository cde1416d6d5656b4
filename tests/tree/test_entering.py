"""Calls that the walk goes into: errors, opaque code and arguments inside of them are as in plain Python."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest
from tree.programs.runner.compare import unruly_threads

import argosy

everything = argosy.futurize(grain=0, threads=3)


def filled(a: Any, n: int, divisor: int) -> Any:
    """Two loops, so that there is something to tell apart."""
    b = np.zeros(n)
    for i in range(n):
        b[i] = a[i % 3] + i
    c = b * (12 // divisor)
    for i in range(n):
        b[i] = c[i] * 2.0
    return b


def through(a: Any, n: int, divisor: int) -> Any:
    first = filled(a, n, 1)
    second = filled(first, n, divisor)
    return first + second


def through_more(a: Any, divisor: int) -> Any:
    x = through(a, 6, divisor)
    return x * 2.0


def told(function: Any, *args: Any) -> tuple[Any, ...]:
    """The exception, with its lines in this file below the call."""
    with pytest.raises(Exception) as raised:  # noqa: PT011
        function(*args)
    lines = [
        (entry.name, entry.lineno)
        for entry in traceback.extract_tb(raised.value.__traceback__)
        if entry.filename == __file__ and entry.name != "told"
    ]
    error = raised.value
    return type(error), str(error), lines, repr(error.__cause__), repr(error.__context__), error.__suppress_context__


def same_as_plain(function: Any, *args: Any) -> tuple[Any, ...]:
    plain = told(function, *args)
    for seed in range(3):
        with unruly_threads(seed):
            assert told(everything(function), *args) == plain
    return plain


def test_an_error_inside_a_helper_has_the_lines_of_both() -> None:
    found = same_as_plain(through, np.ones(3), 6, 0)
    assert found[0] is ZeroDivisionError
    assert [name for name, _ in found[2]] == ["through", "filled"]


def test_an_error_two_helpers_deep_has_the_lines_of_all() -> None:
    found = same_as_plain(through_more, np.ones(3), 0)
    assert [name for name, _ in found[2]] == ["through_more", "through", "filled"]


def test_helpers_give_what_they_give_in_plain_python() -> None:
    a = np.arange(3.0)
    for seed in range(3):
        with unruly_threads(seed):
            assert everything(through_more)(a, 3).tobytes() == through_more(a, 3).tobytes()
    assert a.tolist() == [0, 1, 2]


LOG: list[Any] = []


def noted(a: Any, n: int) -> Any:
    for i in range(n):
        a[i] = a[i] + i
    LOG.append(float(a.sum()))
    print("noted", LOG[-1])
    for i in range(n):
        a[i] = a[i] * 2.0
    return a


def twice_noted(a: Any) -> Any:
    x = noted(a, 3)
    LOG.append("between")
    y = noted(x, 3)
    z = y + 1.0
    return z, len(LOG)


def test_opaque_code_inside_a_helper_runs_in_its_turn(capsys: pytest.CaptureFixture[str]) -> None:
    def run(function: Any) -> Any:
        LOG.clear()
        a = np.ones(3)
        z, size = function(a)
        return z.tolist(), size, a.tolist(), list(LOG), capsys.readouterr().out

    plain = run(twice_noted)
    assert plain[3][1] == "between"
    for seed in range(3):
        with unruly_threads(seed):
            assert run(everything(twice_noted)) == plain


def gives_up(a: Any, n: int) -> Any:
    b = np.zeros(n)
    for i in range(n):
        b[i] = a[i] * 2.0
    try:
        return LOG[10**6]
    except IndexError:
        raise ValueError("gave up") from None


def gives_up_because(a: Any, n: int) -> Any:
    b = np.zeros(n)
    for i in range(n):
        b[i] = a[i] * 2.0
    try:
        return LOG[10**6]
    except IndexError as error:
        raise ValueError("gave up") from error


def gives_up_while_handling(a: Any, n: int) -> Any:
    b = np.zeros(n)
    for i in range(n):
        b[i] = a[i] * 2.0
    try:
        return LOG[10**6]
    except IndexError:
        raise ValueError("gave up")  # noqa: B904


def calls_gives_up(a: Any) -> Any:
    x = gives_up(a, 3)
    return x + 1


def calls_gives_up_because(a: Any) -> Any:
    x = gives_up_because(a, 3)
    return x + 1


def calls_gives_up_while_handling(a: Any) -> Any:
    x = gives_up_while_handling(a, 3)
    return x + 1


@pytest.mark.parametrize(
    "function",
    [
        calls_gives_up,
        calls_gives_up_because,
        calls_gives_up_while_handling,
    ],
)
def test_an_error_of_opaque_code_inside_a_helper_keeps_what_it_came_from(function: Any) -> None:
    found = same_as_plain(function, np.ones(3))
    assert found[2][0][0] == function.__name__


def changes(a: Any, n: int, by: float = 1.0) -> None:
    for i in range(n):
        a[i] = a[i] + by
    for i in range(1, n):
        a[i] = a[i] * a[i - 1]


def changes_twice(a: Any) -> Any:
    before = a.copy()
    changes(a, 4)
    middle = a.copy()
    changes(n=3, by=2.0, a=a)
    return before, middle, a * 1.0


def test_stores_of_helpers_into_arguments_are_in_order() -> None:
    def run(function: Any) -> Any:
        a = np.arange(4.0)
        return [b.tolist() for b in function(a)], a.tolist()

    for seed in range(3):
        with unruly_threads(seed):
            assert run(everything(changes_twice)) == run(changes_twice)


def wants_more(a: Any) -> Any:
    return filled(a, 3)  # type: ignore[call-arg]


def test_arguments_that_do_not_fit_are_refused_in_pythons_words_at_the_callers_line() -> None:
    found = same_as_plain(wants_more, np.ones(3))
    assert found[1] == "filled() missing 1 required positional argument: 'divisor'"


def test_a_helper_that_is_replaced_is_looked_up_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    f = everything(through)
    a = np.arange(3.0)
    for helper in (filled, lambda a, n, divisor: a[:3] + n, filled, everything(filled)):
        monkeypatch.setitem(globals(), "filled", helper)
        for _ in range(2):
            assert f(a, 3, 2).tolist() == through(a, 3, 2).tolist()
