"""Programs whose elementwise expressions are all computed in tiles give plain Python's answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from tree.programs.runner.compare import trouble, unruly_threads
from tree.programs.runner.program import Program, all_programs

import argosy
from argosy.tree import tiling
from argosy.tree.tiles import Limits
from argosy.tree.tiling import Tiling

PROGRAMS = [p for p in all_programs() if p.name.startswith(("algorithms", "learning", "numbers", "stores"))]
TINY = Limits(min_nbytes=0, tile_nbytes=16, rows_multiple=1, short_axis=1, short_result_axis=1, tiles_per_thread=1)
in_tiles = partial(argosy.futurize, grain=0, threads=3)


@pytest.fixture(autouse=True)
def all_in_tiny_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiling, "WORTH_SECONDS", 0)
    monkeypatch.setattr(tiling, "LIMITS", TINY)


@pytest.fixture
def tiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What came out of tiles."""
    seen: list[Any] = []
    plainly: Callable[..., Any] = Tiling._in_tiles

    def spied(self: Tiling, values: Any, pool: Any) -> Any:
        result = plainly(self, values, pool)
        seen.append(result)
        return result

    monkeypatch.setattr(Tiling, "_in_tiles", spied)
    return seen


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_program_in_tiles_is_plain_python(program: Program) -> None:
    with unruly_threads():
        assert trouble(program, in_tiles, times=3) is None


def test_many_programs_are_really_cut(tiled: list[Any]) -> None:
    with_tiles = 0
    for program in PROGRAMS:
        tiled.clear()
        assert trouble(program, in_tiles) is None
        with_tiles += any(result is not None for result in tiled)
    assert with_tiles >= 6


def moved(u: Any, k: float) -> Any:
    v = u * k + 1.0
    v += np.sqrt(abs(u))
    v[1:] = v[1:] * 2.0 - u[:-1]
    return v, np.exp(-v)


def test_both_ways_are_measured_and_the_faster_one_is_kept(tiled: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is one of ours: in tiles everything takes twice as long."""
    now = 0.0
    monkeypatch.setattr(tiling, "perf_counter", lambda: now)
    computed = tiling._computed

    def slowly(*args: Any) -> Any:
        nonlocal now
        now += 1.0
        return computed(*args)

    monkeypatch.setattr(tiling, "_computed", slowly)
    u = np.random.default_rng(0).random(400)
    f = in_tiles(lone)
    num_tiled = []
    for _ in range(12):
        tiled.clear()
        assert f(u).tobytes() == lone(u).tobytes()
        num_tiled.append(sum(result is not None for result in tiled))
    assert num_tiled[:2] == [1, 1]  # the first does not count, for everything is new to it
    assert num_tiled[-6:] == [0] * 6


def lone(u: Any) -> Any:
    return u * 2.0 + np.sqrt(u)


def test_an_error_in_a_tile_is_that_of_the_whole() -> None:
    u = np.linspace(-1, 1, 400)
    with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt") as shown:
        v = in_tiles(lone)(u)
    assert len(shown) == 1
    with np.errstate(all="ignore"):
        assert v.tobytes() == lone(u).tobytes()
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="invalid value encountered in sqrt"):
        in_tiles(lone)(u)


def test_stores_and_augmented_assignments_take_the_tiles_result(tiled: list[Any]) -> None:
    u = np.random.default_rng(0).random(500)
    for _ in range(3):
        plain, ours = moved(u.copy(), 0.5), in_tiles(moved)(u.copy(), 0.5)
        assert [a.tobytes() for a in plain] == [a.tobytes() for a in ours]
    assert sum(result is not None for result in tiled) >= 6


def test_a_name_that_comes_to_stand_for_something_else_is_looked_up_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    u = np.random.default_rng(0).random(500)
    f = in_tiles(through_a_global)
    for function in (np.sqrt, np.square, np.sqrt):
        monkeypatch.setitem(globals(), "shaped", function)
        for _ in range(2):
            assert f(u).tobytes() == (u * 2.0 + function(u)).tobytes()


shaped: Any = np.sqrt


def through_a_global(u: Any) -> Any:
    return u * 2.0 + shaped(u)
