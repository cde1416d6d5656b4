"""From measured steps and a budget to a placement: laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import CapacityTooSmall
from argosy.train.offload.choosing import Budget, choose, costs_of, groups_of
from argosy.train.offload.meter import WINDOWS, Step

few = settings(max_examples=40, deadline=None)
KINDS = ("parameters", "optimizer", "activations")


@st.composite
def problems(draw: Any) -> tuple[Budget, list[Step]]:
    layers = [f"layer{index}" for index in range(draw(st.integers(1, 4)))]
    names = [f"{kind}:{layer}" for layer in layers for kind in KINDS if draw(st.booleans())]
    sizes = {name: draw(st.integers(1, 100)) for name in names}
    groups = groups_of(layers, sizes, ahead=draw(st.booleans()))
    seconds = st.floats(0, 1)
    moves = {(window, name): draw(seconds) for window in WINDOWS for name in names}
    own = {window: draw(seconds) for window in WINDOWS}
    windows = {window: own[window] + sum(moves[window, name] for name in names) for window in WINDOWS}
    budget = Budget(sizes=sizes, fixed_nbytes=draw(st.integers(0, 50)), groups=groups)
    return budget, [Step(windows=windows, moves=moves)]


def chosen(budget: Budget, steps: list[Step], nbytes: int) -> tuple[set[str], float]:
    found = choose(costs_of(steps, [], budget.sizes), budget, nbytes, fast="ram", slow="disk")
    return {name for name, tier in found.placement.items() if tier == "disk"}, found.seconds


@few
@given(problems(), st.floats(0, 1))
def test_every_choice_keeps_to_the_budget(problem: tuple[Budget, list[Step]], share: float) -> None:
    budget, steps = problem
    nbytes = budget.least_nbytes + int(share * (budget.need_nbytes - budget.least_nbytes))
    slow, _ = chosen(budget, steps, nbytes)
    assert budget.peak_nbytes(slow) <= nbytes


@few
@given(problems())
def test_below_the_least_the_error_says_it_and_the_least_works(problem: tuple[Budget, list[Step]]) -> None:
    budget, steps = problem
    with pytest.raises(CapacityTooSmall, match=f"{budget.least_nbytes} bytes") as told:
        chosen(budget, steps, budget.least_nbytes - 1)
    assert told.value.least_nbytes == budget.least_nbytes
    chosen(budget, steps, told.value.least_nbytes)


@few
@given(problems())
def test_with_enough_memory_nothing_is_offloaded(problem: tuple[Budget, list[Step]]) -> None:
    budget, steps = problem
    slow, seconds = chosen(budget, steps, budget.need_nbytes)
    assert slow == set()
    own = sum(steps[0].windows.values()) - sum(steps[0].moves.values())
    assert seconds == pytest.approx(own, abs=1e-9)


@few
@given(problems(), st.floats(0, 1))
def test_more_memory_is_never_thought_slower_than_everything_offloaded(
    problem: tuple[Budget, list[Step]], share: float
) -> None:
    budget, steps = problem
    nbytes = budget.least_nbytes + int(share * (budget.need_nbytes - budget.least_nbytes))
    assert chosen(budget, steps, nbytes)[1] <= steps[0].seconds + 1e-9


@few
@given(problems(), st.lists(st.floats(0, 9), min_size=3, max_size=3))
def test_what_was_measured_with_everything_offloaded_is_predicted(
    problem: tuple[Budget, list[Step]], seen: list[float]
) -> None:
    """Also where moves went on beside the computing, unless they were faster than the computing alone."""
    budget, steps = problem
    everything = np.ones((1, len(budget.sizes)), dtype=np.bool_)
    assert costs_of(steps, [], budget.sizes).total(everything)[0] == pytest.approx(steps[0].seconds)
    free = [Step(windows=dict(zip(WINDOWS, seen, strict=True)), moves={})]
    costs = costs_of(steps, free, budget.sizes)
    assert costs.per_window(everything)[0] == pytest.approx(np.maximum(seen, costs.floor))


def test_a_layer_needs_its_neighbours_activations_and_with_prefetch_all_of_it() -> None:
    sizes = {f"{kind}:{layer}": 1 for layer in "ab" for kind in KINDS}
    assert groups_of("ab", sizes, ahead=False)[2:] == (
        ("parameters:b", "activations:b", "activations:a"),
        ("parameters:b", "optimizer:b"),
    )
    assert [len(group) for group in groups_of("ab", sizes, ahead=True)] == [2, 2, 4, 4]


def test_what_is_dear_to_move_stays() -> None:
    sizes = {"parameters:a": 10, "optimizer:a": 10, "parameters:b": 10, "optimizer:b": 10}
    moves = {("update", "optimizer:a"): 1.0, ("forward", "parameters:a"): 0.1, ("update", "optimizer:b"): 0.2}
    budget = Budget(sizes=sizes, fixed_nbytes=0, groups=groups_of("ab", sizes, ahead=False))
    slow, seconds = chosen(budget, [Step(windows={"forward": 0.3, "update": 1.4}, moves=moves)], 30)
    assert slow == {"parameters:a", "parameters:b", "optimizer:b"}
    assert seconds == pytest.approx(0.7)
