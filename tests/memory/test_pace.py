"""A machine's slow moments are told from the runs around them, and nothing else is taken for one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory.made_up import costs_of, measured_from
from numpy.typing import NDArray

from argosy.memory.calibrating import Calibrated
from argosy.memory.designs import all_rows, design_rows
from argosy.memory.moves import Moves
from argosy.memory.pace import find_pace

MOVES = Moves(fetch_seconds_per_byte=1e-9, evict_seconds_per_byte=1e-9)


def in_rounds(num_placements: int, repeats: int, seed: int) -> NDArray[np.intp]:
    """When each run took place: every round in an order of its own."""
    rng = np.random.default_rng(seed)
    rounds = [rng.permutation(num_placements) + number * num_placements for number in range(repeats)]
    return np.stack(rounds, axis=1)


def wandering(count: int, seed: int, *, step: float = 0.05) -> NDArray[np.float64]:
    """The pace of a machine whose speed changes slowly, by up to some tenths."""
    rng = np.random.default_rng(seed)
    logs = np.zeros(count)
    for at in range(1, count):
        logs[at] = 0.95 * logs[at - 1] + rng.normal(0, step)
    return np.exp(logs)


@settings(max_examples=25, deadline=None)
@given(st.integers(20, 60), st.integers(3, 6), st.integers(0, 999))
def test_runs_at_one_pace_differ_less_than_those_on_a_machine_whose_speed_wanders(
    num_placements: int, repeats: int, seed: int
) -> None:
    when = in_rounds(num_placements, repeats, seed)
    true = wandering(when.size, seed)[when]
    runs = np.random.default_rng(seed).uniform(1, 5, num_placements)[:, None] * true
    pace = find_pace(runs, when)
    left = np.log(runs / pace)
    assert np.std(left - left.mean(axis=1, keepdims=True)) < 0.7 * np.std(np.log(true))
    assert np.log(pace).mean() == pytest.approx(0, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 30), st.integers(1, 5), st.integers(0, 999))
def test_what_a_placement_costs_is_never_a_pace(num_placements: int, repeats: int, seed: int) -> None:
    costs = np.random.default_rng(seed).uniform(0.01, 10, num_placements)
    runs = np.repeat(costs[:, None], repeats, axis=1)
    assert find_pace(runs, in_rounds(num_placements, repeats, seed)) == pytest.approx(np.ones_like(runs))


def test_one_run_of_each_placement_tells_no_pace() -> None:
    runs = np.random.default_rng(0).uniform(1, 9, (12, 1))
    assert find_pace(runs, in_rounds(12, 1, 0)) == pytest.approx(np.ones_like(runs))


def test_a_hiccup_does_not_make_its_neighbours_fast() -> None:
    when = in_rounds(30, 5, 1)
    runs = np.ones((30, 5))
    runs[7, 2] = 100.0
    assert find_pace(runs, when) == pytest.approx(np.ones_like(runs), abs=0.1)


def test_a_window_that_takes_no_time_is_no_reason_to_fail() -> None:
    assert np.isfinite(find_pace(np.zeros((3, 2)), in_rounds(3, 2, 0))).all()


def test_laws_are_nearer_to_the_truth_when_fitted_at_one_pace() -> None:
    errors = np.array([errors_of_a_law(seed) for seed in range(10)])
    at_one_pace, as_it_came = errors.mean(axis=0)
    assert at_one_pace < 0.8 * as_it_came


def errors_of_a_law(seed: int) -> tuple[float, float]:
    """Fitted at one pace, and to the runs as they came."""
    truth, moved = costs_of(8, 3, seed)
    rows = design_rows("random", 8, seed=seed)
    exact = measured_from(truth, moved, rows, repeats=4)
    when = in_rounds(len(rows), 4, seed)
    seconds = exact.seconds * wandering(when.size, seed, step=0.1)[when][:, :, None]
    everywhere = all_rows(8)

    def error(pace: NDArray[np.float64] | None) -> float:
        measured = replace(exact, seconds=seconds, pace=pace)
        found = Calibrated(measured=measured, moves=MOVES, fast="ram", slow="disk").estimator("additive")
        ratio = found.predict_many(everywhere) / truth.total(everywhere)
        return float(np.abs(ratio / np.median(ratio) - 1).mean())

    return error(find_pace(seconds.sum(axis=2), when)), error(None)
