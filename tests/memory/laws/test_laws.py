"""Each law finds the truth where the truth has its form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory.made_up import costs_of, measured_from

from argosy.memory.designs import design_rows, held_out_rows
from argosy.memory.laws import LAWS, fit
from argosy.memory.laws.additive import fit_additive
from argosy.memory.laws.hinge import fit_hinge
from argosy.memory.laws.linear import fit_linear

seeds = st.integers(0, 10_000)


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_two_runs_are_enough_for_linear_where_every_byte_costs_the_same(seed: int) -> None:
    truth, moved = costs_of(6, 4, seed, per_byte=True)
    costs = fit_linear(measured_from(truth, moved, design_rows("endpoints", 6)))
    rows = held_out_rows(design_rows("endpoints", 6), 40, seed=seed)
    assert costs.total(rows) == pytest.approx(truth.total(rows), rel=0.04)


def test_a_window_that_does_not_care_keeps_its_time_under_linear() -> None:
    truth, moved = costs_of(4, 2, seed=1)
    truth.slow[0] *= 1e-6
    costs = fit_linear(measured_from(truth, moved, design_rows("endpoints", 4)))
    assert costs.slow[0].tolist() == [0, 0, 0, 0]
    assert costs.base[0] == pytest.approx(truth.base[0], rel=1e-3)


@given(seeds, st.sampled_from(["one-at-a-time", "random"]))
@settings(max_examples=30, deadline=None)
def test_additive_finds_the_cost_of_every_object(seed: int, design: str) -> None:
    truth, moved = costs_of(6, 3, seed)
    costs = fit_additive(measured_from(truth, moved, design_rows(design, 6, seed=seed)))
    rows = held_out_rows(design_rows("endpoints", 6), 40, seed=seed)
    assert costs.total(rows) == pytest.approx(truth.total(rows), rel=0.02)


def test_additive_costs_are_never_negative_however_noisy_the_runs() -> None:
    for seed in range(10):
        truth, moved = costs_of(6, 3, seed)
        costs = fit_additive(measured_from(truth, moved, design_rows("random", 6), noise=0.5, seed=seed))
        assert (costs.slow[:-1] >= 0).all()
        assert (costs.base[:-1] >= 0).all()


def test_an_object_that_a_window_does_not_touch_costs_it_nothing() -> None:
    truth, moved = costs_of(6, 3, seed=4)
    costs = fit_additive(measured_from(truth, moved, design_rows("random", 6), noise=0.1))
    assert (costs.slow[:-1][moved[:-1] == 0] == 0).all()


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_hinge_finds_what_hides_behind_computing(seed: int) -> None:
    truth, moved = costs_of(5, 3, seed, floors=True)
    measured = measured_from(truth, moved, design_rows("random", 5, placements=25, seed=seed))
    rows = held_out_rows(design_rows("endpoints", 5), 40, seed=seed)
    off = {name: np.abs(law(measured).total(rows) / truth.total(rows) - 1).mean() for name, law in LAWS.items()}
    assert off["hinge"] <= 0.03
    assert off["hinge"] <= off["linear"]


def test_hinge_without_anything_to_hide_is_as_good_as_additive() -> None:
    truth, moved = costs_of(5, 3, seed=3)
    measured = measured_from(truth, moved, design_rows("random", 5))
    rows = held_out_rows(design_rows("endpoints", 5), 30)
    assert fit_hinge(measured).total(rows) == pytest.approx(truth.total(rows), rel=0.02)


@pytest.mark.parametrize(("kind", "wanted"), [("floors", {"hinge"}), ("plain", {"additive", "hinge"})])
def test_auto_takes_the_law_that_predicts_what_it_did_not_see(kind: str, wanted: set[str]) -> None:
    truth, moved = costs_of(6, 3, seed=7, floors=kind == "floors")
    fitted = fit(measured_from(truth, moved, design_rows("random", 6, placements=30), noise=0.005, repeats=3))
    assert fitted.law in wanted
    assert set(fitted.errors) == {"linear", "additive", "hinge"}
    assert fitted.errors[fitted.law] == min(fitted.errors.values())
    assert len(fitted.left_out) == 30


def test_auto_with_two_runs_is_linear_and_claims_no_error() -> None:
    truth, moved = costs_of(4, 2, seed=0)
    fitted = fit(measured_from(truth, moved, design_rows("endpoints", 4)))
    assert fitted.law == "linear"
    assert fitted.errors == {}


def test_an_unknown_law_and_missing_ends_say_what_is_wanted() -> None:
    truth, moved = costs_of(4, 2, seed=0)
    measured = measured_from(truth, moved, design_rows("random", 4))
    with pytest.raises(ValueError, match="no law 'cubic'; there are: auto, linear, additive, hinge"):
        fit(measured, "cubic")
    with pytest.raises(ValueError, match="everything in fast memory"):
        fit(measured.select(list(range(2, 6))))
