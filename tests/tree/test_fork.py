"""Loops and comprehensions in parts: when they are cut, what is put back, and whether threads help."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from tree.programs.runner.compare import unruly_threads

import argosy
from argosy.tree import fork
from argosy.tree.fork import Fork
from argosy.tree.grain import Grain
from argosy.tree.independent import Independence
from argosy.tree.pool import pool_of


def filled(a: Any, items: Any) -> Any:
    for i in items:
        a[i] = i * 2.0 + 1.0
    return a


def columns(a: Any, n: int) -> Any:
    for j in range(n):
        a[:, j] = a[:, j] * 2.0 + j
    return a


def divided(a: Any, b: Any, n: int) -> Any:
    for i in range(n):
        a[i] = 1.0
        a[i] = b[i] / a[i] + 12 // (i - 7)
    return a


def rooted(a: Any, b: Any, n: int) -> Any:
    for i in range(n):
        a[i] = np.sqrt(b[i])
    return a


def copied(a: Any, b: Any, n: int) -> Any:
    for i in range(n):
        a[i] = b[i] + 1.0
    return a


def squares(xs: Any) -> Any:
    return [float(x) ** 2 / (x - 5.0) for x in xs]


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The stretches that loops were cut into."""
    seen: list[Any] = []
    plainly = fork._Run._one

    def spied(self: Any, start: int, stop: int) -> None:
        seen.append(self._items[start:stop])
        plainly(self, start, stop)

    monkeypatch.setattr(fork._Run, "_one", spied)
    return seen


cut = argosy.futurize(grain=0, threads=3)


def test_a_loop_that_stores_rows_is_cut_into_parts_that_are_the_whole(parts: list[Any]) -> None:
    a = cut(copied)(np.zeros(50), np.arange(50.0), 50)
    assert a.tolist() == list(range(1, 51))
    assert len(parts) > 1
    assert sorted(i for part in parts for i in part) == list(range(50))


def test_a_loop_that_stores_columns_is_cut(parts: list[Any]) -> None:
    a = np.random.default_rng(0).random((5, 20))
    assert np.array_equal(cut(columns)(a.copy(), 20), columns(a.copy(), 20))
    assert len(parts) > 1


@pytest.mark.parametrize(
    ("items", "is_cut"),
    [
        (range(0), False),
        (range(1), False),
        (range(2), True),
        (range(3, 20, 4), True),
        (range(19, -1, -1), False),
        (range(-3, 3), False),
        (range(-20, 0), False),
        ([1, 5, 1, 3], False),
        ((4, 2), False),
    ],
)
def test_only_ranges_that_go_up_from_0_or_later_are_cut_where_something_is_stored(
    items: Any, is_cut: bool, parts: list[Any]
) -> None:
    assert cut(filled)(np.zeros(20), items).tolist() == filled(np.zeros(20), items).tolist()
    assert bool(parts) == is_cut


@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_arrays_that_share_memory_are_not_cut(shift: int, parts: list[Any]) -> None:
    def run(function: Any) -> Any:
        base = np.arange(30.0)
        function(base[5:25], base[5 + shift : 25 + shift], 20)
        return base.tolist()

    assert run(cut(copied)) == run(copied)
    assert parts == []


def test_parts_that_fail_are_put_back_and_fail_where_plain_python_does(parts: list[Any]) -> None:
    """At 7 of 20: rows before are stored, row 7 is half done, rows after are as they were."""

    def run(function: Any) -> Any:
        a = np.full(20, 9.0)
        with pytest.raises(ZeroDivisionError) as failed:
            function(a, np.arange(20.0), 20)
        return a.tolist(), failed.traceback[-1].lineno

    plain = run(divided)
    assert plain[0][6:9] == [-6.0, 1.0, 9.0]
    for seed in range(10):
        with unruly_threads(seed):
            assert run(cut(divided)) == plain
    assert len(parts) > 1


def test_an_index_beyond_the_end_fails_where_plain_python_does() -> None:
    def run(function: Any) -> Any:
        a = np.zeros(10)
        with pytest.raises(IndexError, match="index 10 is out of bounds"):
            function(a, np.arange(30.0), 20)
        return a.tolist()

    assert run(cut(copied)) == run(copied)


def test_a_floating_point_warning_in_a_part_is_shown_once_as_in_plain_python(parts: list[Any]) -> None:
    b = np.arange(20.0) - 3
    with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt") as plain:
        expected = rooted(np.zeros(20), b, 20)
    with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt") as shown:
        a = cut(rooted)(np.zeros(20), b, 20)
    assert parts
    assert len(shown) == len(plain)
    assert a.tobytes() == expected.tobytes()


def test_the_elements_of_a_comprehension_come_in_order_and_its_first_error_is_raised(parts: list[Any]) -> None:
    f = cut(squares)
    for seed in range(5):
        with unruly_threads(seed):
            assert f(list(range(6, 40))) == squares(range(6, 40))
            with pytest.raises(ZeroDivisionError):
                f(list(range(20)))
            with pytest.raises(ValueError, match="'x'"):
                f([1, 2, "x", 5, "y"])
    assert len(parts) > 5


def test_an_array_of_objects_is_not_cut(parts: list[Any]) -> None:
    a = np.array([None] * 10)
    assert cut(filled)(a, range(10)).tolist() == [i * 2.0 + 1.0 for i in range(10)]
    assert parts == []


class Clock:
    """Times are as told: an item takes `each` seconds alone, and `forked` seconds in parts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, each: float, forked: float) -> None:
        self.now = 0.0
        self.num_forks = 0
        self._each, self._forked, self._is_forked = each, forked, False
        self._lock = threading.Lock()
        stretches = fork._Run._stretches

        def spied(run: Any, start: int, stop: int, num_parts: int) -> None:
            self._is_forked = True
            self.num_forks += 1
            stretches(run, start, stop, num_parts)
            self._is_forked = False

        monkeypatch.setattr(fork, "perf_counter", lambda: self.now)
        monkeypatch.setattr(fork._Run, "_stretches", spied)

    def elements(self, items: Any, *_values: Any) -> list[int]:
        with self._lock:
            self.now += len(items) * (self._forked if self._is_forked else self._each)
        return list(items)


@pytest.mark.parametrize(
    ("num_items", "each", "forked", "first", "later"),
    [
        (100, 1e-6, 1e-7, 0, 0),  # not worth a look
        (100, 1e-3, 0.5e-3, 2, 1),  # tried on some, and then the rest; later all at once
        (100, 1e-3, 1.1e-3, 1, 0),  # tried on some, the rest alone; later not even tried
        (100, 1e-3, 3e-3, 1, 0),
        (4, 1e-3, 3e-3, 1, 0),
        (3, 1e-6, 1e-6, 0, 0),
    ],
)
def test_whether_threads_help_is_found_out_by_measuring(
    num_items: int, each: float, forked: float, first: int, later: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch, each, forked)
    whole = SimpleNamespace(inputs=("n",), function=lambda: lambda n: clock.elements(range(n)))
    independence = Independence((), ())
    one = Fork(whole, clock.elements, range, lambda _kinds: independence, lambda _n, elements: elements)
    plan = SimpleNamespace(kinds=("atom",))
    num_forks = []
    for _ in range(12):
        clock.num_forks = 0
        run = one.runner(plan, pool_of(2), Grain()) or whole.function()
        assert run(num_items) == list(range(num_items))
        num_forks.append(clock.num_forks)
    assert num_forks[0] == first
    assert num_forks[-3:] == [later] * 3
    assert one.runner(plan, pool_of(2), Grain(0)) is not None
    assert one.runner(plan, pool_of(1), Grain()) is None


def test_a_key_press_in_a_part_is_no_reason_to_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C arrives in the thread that asks, while it works on a part: all parts are put back, and it goes on up."""
    array = np.zeros(8)

    def stretch(items: Any, a: Any) -> Any:
        for i in items:
            a[i] = 1.0
            if i == 3:
                raise KeyboardInterrupt
        return ()

    plain = SimpleNamespace(inputs=("a",), function=lambda: lambda a: a.fill(2.0))
    independence = Independence((("a", 0),), ())
    one = Fork(plain, stretch, lambda _a: range(8), lambda _kinds: independence, None)
    run = one.runner(SimpleNamespace(kinds=("array",)), pool_of(2), Grain(0))
    assert run is not None
    with pytest.raises(KeyboardInterrupt):
        run(array)
    assert array.tolist() == [0.0] * 8


def test_a_sum_of_big_elements_keeps_few_of_them() -> None:
    most = [0]

    def summed(x: Any) -> Any:
        return sum(x * k for k in range(40))

    class Seen(fork._Run):
        def all(self) -> Any:
            made = super().all()
            most[0] = max(most[0], sum(element.nbytes for part in made for element in part))
            return made

    x = np.ones(1 << 16)
    with mock.patch.object(fork, "_Run", Seen), mock.patch.object(fork, "_MOST_NBYTES", 4 * x.nbytes):
        found = argosy.futurize(summed, grain=0, threads=3)(x)
    assert found.tobytes() == summed(x).tobytes()
    assert 0 < most[0] <= 4 * x.nbytes
