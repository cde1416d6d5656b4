"""What a program can find out about itself: its frame, its callers, its constants, its names, when its objects end."""

from __future__ import annotations

import functools
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tree.programs.runner.compare import unruly_threads

import argosy

everything_issued = functools.partial(argosy.futurize, grain=0, threads=3)


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """What it gives or raises, in words, and its warnings with their places."""
    arguments = [argument() if callable(argument) else argument for argument in args]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            ended = repr(function(*arguments))
        except Exception as error:
            ended = f"{type(error).__name__}: {error}"
    return ended, [(str(one.message), Path(one.filename).name, one.lineno) for one in caught]


def assert_the_same(function: Callable[..., Any], *args: Any) -> None:
    plain = outcome(function, *args)
    for times in range(2):
        assert outcome(everything_issued(function), *args) == plain, times


ARRAY = functools.partial(np.arange, 6.0)


# frames


def names_of_caller() -> list[str]:
    return list(sys._getframe(1).f_locals)


def asks_for_a_limit(frame: Any) -> Any:
    limit = 3  # noqa: F841
    x = np.sort(np.arange(10.0)[::-1])
    return frame.query("x > @limit")["x"].sum() + x.sum()


def is_looked_at(a: Any) -> Any:
    b = a + 1
    first = names_of_caller()
    for i in range(2):
        second = names_of_caller()
        del i
    if b.sum() > 0:
        with np.errstate(all="ignore"):
            third = names_of_caller()
    return first, second, third


def is_looked_at_with_cells(a: Any) -> Any:
    total = 0

    def add() -> None:
        nonlocal total
        total += 1

    add()
    return sorted(names_of_caller())


def test_a_callee_that_looks_at_the_frame_sees_all_variables() -> None:
    assert_the_same(asks_for_a_limit, lambda: pd.DataFrame({"x": np.arange(8)}))
    assert_the_same(is_looked_at, ARRAY)
    assert_the_same(is_looked_at_with_cells, ARRAY)


# warnings


def warns_its_caller(a: Any) -> Any:
    b = a + 1
    warnings.warn("for who called", stacklevel=2)
    return b


def warn_above() -> None:
    warnings.warn("for who called the caller", stacklevel=3)


def warns_by_another(a: Any) -> Any:
    b = a + 1
    warn_above()
    return b


def warn_here() -> None:
    warnings.warn("for the caller", stacklevel=2)


def warns_on_its_line(a: Any) -> Any:
    b = a + 1
    warn_here()
    return b


class Warns:
    def method(self, a: Any) -> Any:
        b = a + 1
        warnings.warn("for who called", stacklevel=2)
        return b


def test_a_warning_points_to_the_line_that_it_is_meant_for() -> None:
    for function in (warns_its_caller, warns_by_another, warns_on_its_line):
        assert_the_same(function, ARRAY)
    futurized = type("Futurized", (), {"method": everything_issued(Warns.method)})
    assert outcome(lambda: futurized().method(np.ones(2))) == outcome(lambda: Warns().method(np.ones(2)))


def test_a_warning_for_a_caller_is_shown_once_for_each_line() -> None:
    def count(function: Any) -> int:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for _ in range(3):
                function(np.ones(2))
            function(np.ones(2))
        globals().pop("__warningregistry__", None)
        return len(caught)

    assert count(everything_issued(warns_by_another)) == count(warns_by_another) == 2


ODD = r"""
def odd(x):
    y = x is 5
    assert (x, "always")
    for i in range(3):
        y = y is 7
    return y, "\d"
"""


def test_what_the_compiler_warned_of_is_not_said_again(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(ODD, str(tmp_path / "odd.py"), "exec"), names)
    for action in ("always", "error"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter(action)  # type: ignore[arg-type]
            futurized = argosy.futurize(names["odd"], grain=0, strict=True)
            assert [futurized(x) for x in (7, 7)] == [(False, r"\d")] * 2
        assert not caught


# objects


def is_itself(a: Any) -> Any:
    number, again, nothing = 100000, 100000, 0.0
    text = "hello world!"
    pair = (1, 2.5, ("x", 0.0))
    told = []
    for _ in range(3):
        same, other, zero = 100000, (1, 2.5, ("x", 0.0)), -0.0
        told.append((same is number, other is pair, zero is nothing))

    def inner() -> Any:
        return 100000, "hello world!"

    return number is again, told, inner()[0] is number, inner()[1] is text, [(n := 100000) is number for _ in a]  # noqa: F841


def grows(n: int) -> Any:
    a = np.zeros(3)
    a.resize(n)
    return a + 1, sys.getrefcount(a)


ENDED: list[str] = []


class Ends:
    def __init__(self, name: str) -> None:
        self.name = name

    def __del__(self) -> None:
        ENDED.append(self.name)


def ends_objects(a: Any) -> Any:
    ENDED.clear()
    x = Ends("x")
    held = [Ends("held"), a]
    y = np.sin(a)
    a[0] = 1.0
    del x
    ENDED.append("after x")
    y = y + 1
    held = None
    ENDED.append("after held")
    x = Ends("y")
    x = None
    ENDED.append("after y")
    return list(ENDED), y, x, held


def test_equal_constants_are_one_and_objects_end_when_they_should() -> None:
    assert_the_same(is_itself, ARRAY)
    assert_the_same(grows, 6)
    assert_the_same(ends_objects, ARRAY)


# names


def names_of_inner(a: Any) -> Any:
    b = a * 2

    def inner(x: Any) -> Any:
        return x

    class Inner:
        def method(self) -> Any:
            return (lambda: b).__qualname__

    found = inner.__qualname__, Inner.__qualname__, Inner.method.__qualname__, Inner.__module__, Inner().method()
    return found, inner(1, 2)  # type: ignore[call-arg]


class Private:
    def __init__(self) -> None:
        self.__hidden = 3

    def method(self, a: Any) -> Any:
        b = np.sort(a)
        return b + self.__hidden


def has_no_value(a: Any) -> Any:
    if a.sum() < 0:
        b = 1

    def inner() -> Any:
        return b

    try:
        inner()
    except NameError as error:
        print(error)
    b += 1
    return b


def test_names_inside_are_those_of_the_whole() -> None:
    assert_the_same(names_of_inner, ARRAY)
    assert_the_same(Private.method, Private, ARRAY)
    assert_the_same(has_no_value, ARRAY)


# who is asked


MODULE = types.ModuleType("module")
ASKED: list[str] = []


def asked_of_module(name: str) -> int:
    ASKED.append(name)
    return len(ASKED)


MODULE.__getattr__ = asked_of_module  # type: ignore[method-assign, assignment]


class Nosy:
    """Counts whoever asks it for something, and has everything."""

    def __call__(self, x: Any) -> Any:
        return x

    def __getattr__(self, name: str) -> Any:
        ASKED.append(name)
        return lambda *_: 3

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        ASKED.append("class")
        return int


def asks_a_module(n: int) -> Any:
    ASKED.clear()
    x = MODULE.something
    y = MODULE.something + n
    return x, y, list(ASKED)


def has_a_nosy_one(nosy: Any, x: Any) -> Any:
    ASKED.clear()
    y = np.sin(x)
    for _ in range(2):
        y = nosy(y) + 1
    held = [nosy, y]
    del held
    return list(ASKED), y


def test_nobody_is_asked_more_often() -> None:
    assert_the_same(asks_a_module, 1)
    assert_the_same(has_a_nosy_one, Nosy, ARRAY)


# iterating over what changes


def grows_a_dict(counts: Any) -> Any:
    found = []
    for key in counts:
        found.append(key)
        counts[key + 10] = 1
    return found


def shrinks_a_list(items: Any) -> Any:
    found = []
    for item in items:
        found.append(item)
        if len(items) < 6:
            items.append(item + 1)
        if item == 3:
            items.remove(1)
    return found, items


def reads_on(items: Any) -> Any:
    iterator = iter(items)
    first = next(iterator)
    items.append(5)
    return first, list(iterator)


def stores_by_a_loop(n: int) -> Any:
    last, store = [0, 0], {}
    for i, last[0] in [(1, 2), (3, 4)]:
        n += i + last[0]
    for store["key"] in range(3):
        last[1] += store["key"]
    return n, last, store


def test_what_changes_while_it_is_iterated_over_is_as_in_plain_python() -> None:
    assert_the_same(grows_a_dict, lambda: {1: 1})
    assert_the_same(shrinks_a_list, lambda: [1, 2])
    assert_the_same(reads_on, lambda: [1, 2])
    assert_the_same(stores_by_a_loop, 1)


# inner functions over variables that change


def adds_up(a: Any) -> Any:
    total: Any = 0

    def add(x: Any) -> Any:
        nonlocal total
        total += x
        return total

    for i in range(5):
        add(a[i])
    b = np.sort(a)
    total = total * 2
    add(1)
    return total, b, add.__closure__[0].cell_contents  # type: ignore[index]


def captures_a_loop_variable(a: Any) -> Any:
    functions: list[Any] = []
    for i in range(3):
        functions.append(lambda: i)  # noqa: B023
        b = np.sort(a) + i
    return [function() for function in functions], b


def makes_a_class(a: Any) -> Any:
    n = 1

    class Point:
        k = n

        def __init__(self, value: Any) -> None:
            self.__value = value

        def get(self) -> Any:
            return self.__value + n

        def plainly(self) -> str:
            return super().__repr__().partition(" ")[0]

    point = Point(a)
    n = 5
    return point.get(), Point.k, point.plainly()


def generates_late(a: Any) -> Any:
    k = 2
    made = (x * k for x in a)
    k: int = 3  # type: ignore[no-redef]
    return list(made)


def calls_one_that_counts(a: Any) -> Any:
    found = adds_up(a)
    more = adds_up(a + 1)
    return found[0], more[0]


def recurses(n: Any) -> Any:
    calls = 0

    def down(m: int) -> int:
        nonlocal calls
        calls += 1
        return m if m == 0 else up(m - 1)

    def up(m: int) -> int:
        return down(m) + 1

    return down(n), calls


def keeps_a_parameter(a: Any, k: Any = 3) -> Any:
    def get() -> Any:
        return a * k

    first = get()
    a = a + 1
    k += 1
    return first, get()


def test_variables_that_inner_functions_see_change_are_as_in_plain_python() -> None:
    for function in (adds_up, captures_a_loop_variable, makes_a_class, generates_late, calls_one_that_counts,
                     keeps_a_parameter):  # fmt: skip
        assert everything_issued(function).reason is None
        assert_the_same(function, ARRAY)
    assert_the_same(recurses, 5)


def deletes_it(a: Any) -> Iterator[Any]:
    held = a

    def get() -> Any:
        return held  # noqa: F821

    del held
    return get()  # type: ignore[no-any-return]


def test_a_shared_variable_without_a_value_is_an_error_in_the_words_of_plain_python() -> None:
    assert_the_same(deletes_it, ARRAY)
    with pytest.raises(UnboundLocalError):
        everything_issued(has_no_value)(np.ones(2))


# what is being handled


def raises(a: Any) -> Any:
    b = a + 1
    if b[0] > 0:
        raise ValueError("asked")


def fails(a: Any) -> Any:
    return a @ np.ones(4)


def raises_again(a: Any) -> Any:
    b = a + 1
    if b[0] > 0:
        raise


def looks_at_what_is_handled(a: Any) -> Any:
    b = a + 1
    return sys.exc_info()[:2], b


def test_an_exception_that_is_handled_around_the_call_is_seen_in_it() -> None:
    def handled(function: Any) -> Any:
        try:
            raise KeyError("around")
        except KeyError:
            try:
                return repr(function(np.ones(3)))
            except Exception as error:
                return repr(error), repr(error.__context__), repr(error.__cause__)

    for function in (raises, fails, raises_again, looks_at_what_is_handled):
        assert handled(everything_issued(function)) == handled(function)


def warns_and_raises(total: Any, a: Any, b: Any) -> Any:
    total += a / b
    return total


def test_a_statement_that_warns_and_then_raises_does_both() -> None:
    for function in (warns_and_raises, everything_issued(warns_and_raises)):
        with (
            warnings.catch_warnings(record=True, action="always") as heard,
            pytest.raises(ValueError, match="broadcast"),
        ):
            function(np.zeros(4), np.ones((4, 4)), np.zeros(4))
        assert [str(one.message) for one in heard] == ["divide by zero encountered in divide"]


def iterates_after_a_change(d: Any, a: Any, m: Any) -> None:
    for i in range(4):
        m[i] = np.sin(m[i - 1]) * i
        a[:], m[0] = m[3], a
    b = a
    d.pop("last", b)
    for key in d:
        d[key + key] = b


def test_a_dictionary_is_iterated_over_as_it_is_after_the_changes_before() -> None:
    walked = everything_issued(iterates_after_a_change)
    for seed in range(60):
        with unruly_threads(seed):
            given = {"p": np.ones(4), "q": np.zeros(4), "last": np.ones(4)}
            with pytest.raises(RuntimeError, match="changed size during iteration"):
                walked(given, np.ones(4), np.ones((4, 4)))
            assert list(given) == ["p", "q", "pp"]
