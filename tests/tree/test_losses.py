"""A loop that costs more to walk than that gains is left to plain Python while it runs: decided from measured times."""

from __future__ import annotations

import ast
import inspect
import random
import textwrap
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from tree.programs.runner.compare import trouble
from tree.programs.runner.program import Program as Example
from tree.programs.runner.program import all_programs

import argosy
from argosy.tree import grain, losses
from argosy.tree.flow import Flow
from argosy.tree.grain import FIRST_TRIAL_SECONDS, LOST_SECONDS, TRIAL_SHARE
from argosy.tree.learning import learns, learnt
from argosy.tree.losses import GIVE_UP, GOES_ON, TRY, Loop, Loss
from argosy.tree.pool import pool_of
from argosy.tree.program import Program


def has_loop(program: Example) -> bool:
    tree = ast.parse(textwrap.dedent(inspect.getsource(program.function)))
    return any(isinstance(node, (ast.For, ast.While)) for node in ast.walk(tree))


PROGRAMS = [program for program in all_programs() if has_loop(program)][::2]
walked_always = partial(argosy.futurize, grain=1e-12, threads=3)


@pytest.fixture
def nothing_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grain, "SMALL_ITERATION_SECONDS", 0.0)


@pytest.fixture
def whenever(monkeypatch: pytest.MonkeyPatch, nothing_is_short: None) -> dict[int, int]:
    """After any round a loop goes on, is tried plainly for some rounds, or is given up; and is walked again later."""
    draw, seen = random.Random(0), {GOES_ON: 0, TRY: 0, GIVE_UP: 0}

    def look(self: Any) -> int:
        self._rounds += 1
        found = draw.choice([GOES_ON, TRY, TRY, GIVE_UP])
        if found == TRY:
            self._sample = (self._rounds - draw.randint(1, 3), 0.0, 0.0)
        elif found == GIVE_UP:
            self.give_up(0.0)
        seen[found] += 1
        return found

    monkeypatch.setattr(losses, "LOST_SECONDS", 0.0)
    monkeypatch.setattr(Loss, "look", look)
    monkeypatch.setattr(Program, "is_worth_walking", lambda *_: True)
    return seen


def test_programs_whose_loops_change_over_in_the_middle_are_plain_python(whenever: dict[int, int]) -> None:
    troubles = [trouble(program, walked_always, times=2) for program in PROGRAMS]
    assert [found for found in troubles if found is not None] == []
    assert whenever[TRY] > 20
    assert whenever[GIVE_UP] > 20


def sampler(data: Any, sweeps: int, seed: int) -> Any:
    draw = np.random.default_rng(seed)
    means = draw.normal(size=3)
    group = np.zeros(len(data), dtype=int)
    for _ in range(sweeps):
        for i in range(len(data)):
            weights = np.exp(-0.5 * (data[i] - means) ** 2)
            group[i] = np.searchsorted(np.cumsum(weights / weights.sum()), draw.random())
        for k in range(3):
            mine = data[group == k]
            means[k] = draw.normal(mine.sum() / (len(mine) + 0.1), 1.0)
    return means, group


@pytest.fixture
def nothing_may_be_lost(monkeypatch: pytest.MonkeyPatch, nothing_is_short: None) -> None:
    monkeypatch.setattr(losses, "LOST_SECONDS", 0.0)
    monkeypatch.setattr(losses, "_LOOK_SECONDS", 0.0)


@pytest.mark.usefixtures("nothing_may_be_lost")
def test_explain_says_which_loop_was_given_up_and_after_how_many_rounds(capsys: pytest.CaptureFixture[str]) -> None:
    data = np.random.default_rng(0).normal(size=20)
    text = str(argosy.futurize(sampler).explain(data, 4, 1))
    first = sampler.__code__.co_firstlineno
    assert f"lines {first + 4} to {first + 10} run in their turn: walking it costs more than it gains: after 1 " in text
    assert "plain Python took over" in capsys.readouterr().out


@pytest.mark.usefixtures("nothing_may_be_lost")
def test_a_sampler_that_is_given_up_draws_what_plain_python_draws() -> None:
    data = np.random.default_rng(0).normal(size=20)
    ours = argosy.futurize(sampler)
    for seed in range(3):
        assert [a.tobytes() for a in ours(data, 5, seed)] == [a.tobytes() for a in sampler(data, 5, seed)]


def raising(numbers: Any, at: int) -> list[float]:
    found = []
    for i in range(len(numbers)):
        x = numbers[i] * 2
        y = numbers[i] + 1
        if i == at:
            raise ValueError(f"no {x}")
        found.append(float(x + y))
    return found


@pytest.mark.usefixtures("nothing_may_be_lost")
def test_an_error_after_the_change_over_has_the_users_own_line() -> None:
    with pytest.raises(ValueError, match="no 14") as raised:
        argosy.futurize(raising)(np.arange(9), 7)
    assert raised.traceback[-1].lineno + 1 == raising.__code__.co_firstlineno + 6
    assert raised.traceback[-1].name == "raising"


def test_a_loop_that_was_given_up_is_walked_again_after_it_ran_plainly_for_long_and_then_for_longer() -> None:
    loop, waits = Loop(), []
    for _ in range(3):
        loop.lost = LOST_SECONDS
        loop.give_up()
        waits.append(0)
        while loop.is_plain:
            loop.ran_plainly(LOST_SECONDS)
            waits[-1] += 1
    assert waits[0] >= 1 / TRIAL_SHARE
    assert waits[1] > 1.8 * waits[0]
    assert waits[2] > 1.8 * waits[1]


@pytest.mark.parametrize("gains", [True, False])
def test_rounds_tried_both_ways_decide_when_they_say_so_twice_or_when_the_account_says_the_same(gains: bool) -> None:
    loop = Loop()
    assert not loop.tried(gains)
    assert loop.tried(gains) is not gains
    assert Loop().tried(gains, suspects=True) is not gains


@pytest.mark.parametrize(
    ("walked", "plain", "gains"),
    [
        ((1.0, 1.0), (1.0, 1.0), False),
        ((1.5, 1.5), (1.0, 1.0), False),
        ((0.6, 1.1), (1.0, 1.0), True),  # by threads
        ((1.5, 0.6), (1.0, 1.0), True),  # by less work, on a busy machine
    ],
)
def test_rounds_gain_by_the_clock_or_by_work_that_is_saved(
    walked: tuple[float, float], plain: tuple[float, float], gains: bool
) -> None:
    loop, flow = Loop(), Flow(pool_of(2))
    loss = Loss(loop, flow)
    assert not loss.tried(1, walked, plain)
    assert loss.tried(1, walked, plain) is not gains
    assert loop.is_plain is not gains


def test_trials_become_rare_where_walking_is_better() -> None:
    loop = Loop()
    assert loop.trial_after == FIRST_TRIAL_SECONDS
    waits = []
    for _ in range(3):
        loop.tried(True)
        waits.append(loop.trial_after)
    assert waits == sorted(set(waits))
    assert waits[0] >= 1.0


def test_what_is_found_out_inside_of_finding_out_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr("argosy.tree.learning.perf_counter", lambda: next(clock))

    inner: Callable[[], None] = learns(lambda: None)
    before = learnt()
    learns(lambda: (inner(), inner()))()
    assert learnt() - before == 1
