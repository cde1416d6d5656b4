"""Schedules: placements that change in the run, with their moves paid for."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory.planning.small import best_by_trying, capacities, make_costs, moves, small_costs

from argosy.memory.costs import Costs
from argosy.memory.moves import Moves
from argosy.memory.planning import dynamic
from argosy.memory.planning import phases as phases_module
from argosy.memory.planning.exact import exact
from argosy.memory.planning.phases import phases
from argosy.memory.planning.polish import polish
from argosy.memory.planning.relaxation import relaxed
from argosy.memory.planning.simulate import price
from argosy.memory.planning.solved import Solved
from argosy.memory.planning.timeline import timeline

starts = st.one_of(st.none(), st.integers(0, 255))


def _start(costs: Costs, number: int | None, capacity: int) -> np.ndarray | None:
    """A placement that fits, or none."""
    if number is None:
        return None
    row = np.array([number >> o & 1 == 1 for o in range(len(costs.objects))])
    return row if ~row @ np.array(costs.sizes) <= capacity else np.ones(len(row), dtype=np.bool_)


def _fits(costs: Costs, rows: np.ndarray, capacity: int) -> bool:
    return bool(np.all(~rows @ np.array(costs.sizes) <= capacity))


def _without_dynamic(costs: Costs, moves: Moves, capacity: int, start: np.ndarray | None) -> Solved:
    """As if there were too many objects for the dynamic program."""
    with mock.patch.object(dynamic, "is_small", return_value=False):
        return phases(costs, moves, capacity, start=start)


@given(costs=small_costs(most_objects=3, most_windows=3, most_steps=3), moves=moves, capacity=capacities, number=starts)
@settings(max_examples=40, deadline=None)
def test_the_dynamic_program_is_as_good_as_trying_every_schedule(
    costs: Costs, moves: Moves, capacity: int, number: int | None
) -> None:
    start = _start(costs, number, capacity)
    found = phases(costs, moves, capacity, start=start)
    assert _fits(costs, found.rows, capacity)
    best = best_by_trying(costs, moves, capacity, start)
    assert price(costs, moves, found.rows, start=start).seconds == pytest.approx(best, abs=1e-9)
    assert found.bound == pytest.approx(best, abs=1e-9)


@given(costs=small_costs(most_objects=6, most_steps=8), moves=moves, capacity=capacities)
@settings(max_examples=40, deadline=None)
def test_a_schedule_is_never_worse_than_the_best_single_placement(costs: Costs, moves: Moves, capacity: int) -> None:
    single = float(costs.total(exact(costs, capacity).rows)[0])
    for found in (phases(costs, moves, capacity), _without_dynamic(costs, moves, capacity, None)):
        assert price(costs, moves, found.rows).seconds <= single + 1e-9


@given(costs=small_costs(most_objects=5, most_steps=8), moves=moves, capacity=capacities, number=starts)
@settings(max_examples=50, deadline=None)
def test_the_program_for_many_objects_keeps_capacity_and_its_bound_holds(
    costs: Costs, moves: Moves, capacity: int, number: int | None
) -> None:
    start = _start(costs, number, capacity)
    best = price(costs, moves, phases(costs, moves, capacity, start=start).rows, start=start).seconds
    found = _without_dynamic(costs, moves, capacity, start)
    assert _fits(costs, found.rows, capacity)
    assert found.bound is not None
    # It stops a thousandth short of the best, of all that objects and moves can cost.
    spread = float(np.abs(costs.slow).sum()) + moves.seconds(costs.nbytes, costs.nbytes) * len(costs.order)
    short = 2e-3 * spread + 1e-6
    assert best - short <= found.bound <= best + 1e-6
    assert price(costs, moves, found.rows, start=start).seconds <= best + short


@given(
    costs=small_costs(most_objects=5, most_steps=8),
    moves=moves,
    capacity=capacities,
    number=starts,
    seed=st.integers(0, 99),
)
@settings(max_examples=50, deadline=None)
def test_polishing_keeps_capacity_and_never_makes_a_schedule_worse(
    costs: Costs, moves: Moves, capacity: int, number: int | None, seed: int
) -> None:
    line = timeline(costs, most_phases=3)
    rng = np.random.default_rng(seed)
    rows = np.array([_start(costs, int(rng.integers(256)), capacity) for _ in range(line.num_phases)])
    start = _start(costs, number, capacity)
    better = polish(line, moves, capacity, rows, start)
    assert _fits(costs, better, capacity)
    before = price(costs, moves, line.by_occurrence(rows), start=start).seconds
    assert price(costs, moves, line.by_occurrence(better), start=start).seconds <= before + 1e-9


@given(costs=small_costs(most_objects=4, most_windows=4, most_steps=10), most=st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_phases_cover_the_run_and_keep_its_time(costs: Costs, most: int) -> None:
    line = timeline(costs, most_phases=most)
    assert line.num_phases <= most
    assert line.starts[0] == 0
    assert np.all(np.diff(line.starts) > 0)
    rng = np.random.default_rng(0)
    rows = rng.random((line.num_phases, len(costs.objects))) < 0.5
    assert line.by_phase(line.by_occurrence(rows)).tolist() == rows.tolist()
    by_window = line.costs.per_window(rows)[line.phase_of, np.arange(len(line.phase_of))].sum()
    free = Moves(fetch_seconds_per_byte=0.0, evict_seconds_per_byte=0.0)
    assert price(costs, free, line.by_occurrence(rows)).seconds == pytest.approx(by_window)


def test_windows_that_are_most_alike_become_one_phase() -> None:
    costs = make_costs([[9.0, 0.0], [8.0, 0.0], [0.0, 9.0], [0.0, 8.0]], [1, 1], order=[0, 1, 0, 1, 2, 3, 2, 3])
    assert timeline(costs, most_phases=2).starts.tolist() == [0, 4]


def test_two_working_sets_take_turns_where_moves_are_cheap_and_not_where_they_are_dear() -> None:
    costs = make_costs([[8.0, 0.0], [0.0, 6.0]], [100, 100], order=[0, 0, 0, 0, 1, 1, 1])
    cheap = Moves(fetch_seconds_per_byte=0.01, evict_seconds_per_byte=0.01)
    found = phases(costs, cheap, 100)
    assert (~found.rows).tolist() == [[True, False]] * 4 + [[False, True]] * 3
    assert price(costs, cheap, found.rows).seconds == pytest.approx(2.0)
    dear = Moves(fetch_seconds_per_byte=0.1, evict_seconds_per_byte=0.1)
    assert (~phases(costs, dear, 100).rows).tolist() == [[True, False]] * 7


def test_very_many_windows_are_merged_and_that_is_said() -> None:
    rng = np.random.default_rng(1)
    costs = make_costs(rng.random((8, 5)).tolist(), [10] * 5, order=[int(i) % 8 for i in range(80)])
    moves = Moves(fetch_seconds_per_byte=0.001, evict_seconds_per_byte=0.001)
    with mock.patch.object(phases_module, "MOST_CELLS", 60):
        found = _without_dynamic(costs, moves, 20, None)
    assert "80 windows were merged into 12 phases" in found.notes
    assert found.bound is None
    assert _fits(costs, found.rows, 20)
    assert price(costs, moves, found.rows).seconds <= float(costs.total(exact(costs, 20).rows)[0]) + 1e-9


def test_a_relaxation_that_does_not_end_in_time_leaves_a_schedule_and_says_so() -> None:
    costs = make_costs([[8.0, 0.0], [0.0, 6.0]], [100, 100], order=[0, 0, 1, 1])
    moves = Moves(fetch_seconds_per_byte=0.01, evict_seconds_per_byte=0.01)
    with mock.patch.object(phases_module, "relaxed", return_value=(None, -np.inf)):
        found = _without_dynamic(costs, moves, 100, None)
    assert found.bound is None
    assert found.notes == ("the relaxation did not end within 10 s: no bound",)
    assert price(costs, moves, found.rows).seconds == pytest.approx(2.0)


def test_without_scipy_there_is_a_schedule_and_no_bound() -> None:
    costs = make_costs([[8.0, 0.0], [0.0, 6.0]], [100, 100], order=[0, 0, 1, 1])
    moves = Moves(fetch_seconds_per_byte=0.01, evict_seconds_per_byte=0.01)
    with mock.patch.object(phases_module, "have_scipy", return_value=False):
        found = _without_dynamic(costs, moves, 100, None)
    assert found.bound is None
    assert "SciPy is not installed: no relaxation and no bound" in found.notes
    assert price(costs, moves, found.rows).seconds == pytest.approx(2.0)


def test_the_relaxation_alone_says_what_parts_of_objects_could_reach() -> None:
    """Half of each object fits: no whole one does."""
    line = timeline(make_costs([[4.0, 4.0]], [10, 10]), most_phases=1)
    free = Moves(fetch_seconds_per_byte=0.0, evict_seconds_per_byte=0.0)
    rows, bound = relaxed(line, free, 15, None, whole=False, time_limit_seconds=5)
    assert bound == pytest.approx(2.0)
    assert rows is not None
    assert int((~rows).sum()) == 1
