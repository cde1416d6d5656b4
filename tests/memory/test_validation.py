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
