"""An estimator is judged apart from the drift of the machine, and a wrong one is found out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from memory.made_up import costs_of, measured_from

from argosy.memory.calibrating import Calibrated
from argosy.memory.costs import Costs
from argosy.memory.designs import design_rows, held_out_rows
from argosy.memory.estimator import Estimator
from argosy.memory.moves import Moves
from argosy.memory.validation import Validation

MOVES = Moves(fetch_seconds_per_byte=1e-9, evict_seconds_per_byte=1e-9)


def calibrated_on(costs: Costs, moved: np.ndarray) -> Estimator:
    known = measured_from(costs, moved, design_rows("random", len(costs.objects)), repeats=3)
    return Calibrated(measured=known, moves=MOVES, fast="ram", slow="disk").estimator("additive")


def validated(estimator: Estimator, machine: Costs, moved: np.ndarray) -> Validation:
    """On a machine that is so now."""
    rows = held_out_rows(estimator.measured, 60)
    return Validation(
        program="made up",
        law="",
        held_out=measured_from(machine, moved, rows, repeats=3),
        again=measured_from(machine, moved, estimator.measured, repeats=3),
        predicted=np.zeros(len(rows)),
        drift=0.0,
        error_before_anchoring=0.0,
        chosen=(),
    ).under(estimator)


def test_drift_is_told_apart_from_error() -> None:
    costs, moved = costs_of(7, 3, seed=1)
    estimator = calibrated_on(costs, moved)
    found = validated(estimator, costs.scaled(base=1.2, slow=1.2), moved)
    assert found.law == "additive"
    assert found.mean_error < 0.01
    assert found.drift == pytest.approx(0.2, abs=0.01)
    assert found.error_before_anchoring == pytest.approx(1 - 1 / 1.2, abs=0.01)
    assert found.kendall_tau > 0.98


def test_a_machine_that_has_not_moved_moves_nothing() -> None:
    costs, moved = costs_of(7, 3, seed=2)
    estimator = calibrated_on(costs, moved)
    found = validated(estimator, costs, moved)
    assert found.predicted == pytest.approx(estimator.predict_many(found.rows), rel=0.01)
    assert found.drift == pytest.approx(0, abs=0.01)


def test_an_estimator_that_takes_one_object_for_another_is_found_out() -> None:
    costs, moved = costs_of(7, 3, seed=3)
    right = calibrated_on(costs, moved)
    wrong = replace(right, costs=replace(right.costs, slow=right.costs.slow[:, ::-1].copy()))
    assert validated(right, costs, moved).mean_error < 0.01
    assert validated(wrong, costs, moved).mean_error > 0.1


def test_the_error_from_two_runs_is_told_beside_by_its_own_protocol() -> None:
    """The linear law from one run at either end: objects that cost differently per byte are beyond it."""
    costs, moved = costs_of(7, 3, seed=4)
    estimator = calibrated_on(costs, moved)
    found = validated(estimator, costs, moved)
    assert found.mean_error < 0.01
    assert len(found.errors_from_two_runs) == 3
    ends = measured_from(costs, moved, np.array([[False] * 7, [True] * 7]))
    linear = Calibrated(measured=ends, moves=MOVES, fast="ram", slow="disk").estimator("linear")
    alone = np.abs(linear.predict_many(found.rows) / found.measured - 1).mean()
    assert found.errors_from_two_runs == pytest.approx([alone] * 3)
    assert alone > 0.02
    told = found.to_json()["two_runs"]
    assert told["mean_error"] == pytest.approx(alone)
    assert f"from two runs    {alone:7.1%}" in str(found)
    assert "one run all fast, one all slow" in str(found)


def test_one_noisy_run_at_an_end_shows_in_the_error_from_two_runs_and_not_in_a_mean_of_both() -> None:
    costs, moved = costs_of(7, 3, seed=4, per_byte=True)
    found = validated(calibrated_on(costs, moved), costs, moved)
    seconds = found.again.seconds.copy()
    seconds[1, 2] *= 1.5
    spoilt = replace(found, again=replace(found.again, seconds=seconds))
    assert found.errors_from_two_runs.max() < 0.05
    assert spoilt.errors_from_two_runs[2] > 0.1
    assert spoilt.errors_from_two_runs[:2] == pytest.approx(found.errors_from_two_runs[:2])


def test_the_interval_of_the_mean_error_covers_it_nine_times_out_of_ten() -> None:
    costs, moved = costs_of(7, 3, seed=5)
    base = validated(calibrated_on(costs, moved), costs, moved)
    rng = np.random.default_rng(0)
    truth = 0.05 * (2 / np.pi) ** 0.5
    covered = []
    for _ in range(300):
        found = replace(base, predicted=base.measured * (1 + rng.normal(0, 0.05, len(base.rows))))
        low, high = found.mean_error_interval
        assert low < found.mean_error < high
        covered.append(low <= truth <= high)
    assert 0.85 <= np.mean(covered) <= 0.95


def test_fewer_placements_give_a_wider_interval() -> None:
    costs, moved = costs_of(7, 3, seed=5)
    base = validated(calibrated_on(costs, moved), costs, moved)
    errors = np.random.default_rng(1).normal(0, 0.05, len(base.rows))
    base = replace(base, predicted=base.measured * (1 + errors))
    few = replace(base, held_out=base.held_out.select(slice(10)), predicted=base.predicted[:10])
    widths = [high - low for low, high in (base.mean_error_interval, few.mean_error_interval)]
    assert widths[1] > 1.2 * widths[0]
    taus = [high - low for low, high in (base.kendall_tau_interval, few.kendall_tau_interval)]
    assert taus[1] > taus[0]
    assert few.to_json()["mean_error_interval"] == list(few.mean_error_interval)


def test_it_says_what_the_time_was_enough_for() -> None:
    costs, moved = costs_of(7, 3, seed=5)
    base = validated(calibrated_on(costs, moved), costs, moved)
    assert "time" not in str(base)
    within = replace(base, took_seconds=20.0, asked_seconds=30.0, wanted_repeats=3)
    assert str(within).endswith("time                20 s of 30 s")
    short = replace(within, wanted_repeats=8)
    assert str(short).endswith("20 s of 30 s: 3 runs of each placement, where the noise asks for 8")
    assert "fewer placements" not in str(replace(short, took_seconds=40.0))
    twice = replace(short.held_out, seconds=short.held_out.seconds[:, :2])
    least = replace(short, held_out=twice, took_seconds=40.0)
    assert "ask for fewer placements or a smaller size" in str(least)
    assert "of 30 s" not in str(replace(within, asked_seconds=None))


def test_how_far_chance_alone_is_off_is_told_unless_each_was_run_once() -> None:
    costs, moved = costs_of(7, 3, seed=5)
    rows = held_out_rows(design_rows("random", 7), 60)
    base = validated(calibrated_on(costs, moved), costs, moved)
    noisy = replace(base, held_out=measured_from(costs, moved, rows, noise=0.1, repeats=9))
    assert noisy.by_chance == pytest.approx(noisy.noise / 3)
    assert replace(base, held_out=measured_from(costs, moved, rows)).by_chance is None
