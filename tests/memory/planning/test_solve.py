"""`plan` and `curve`: from an estimator to an answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory.planning.small import Estimated, capacities, make_costs, moves, small_costs

from argosy.errors import CapacityTooSmall
from argosy.memory.costs import Costs
from argosy.memory.moves import Moves
from argosy.memory.placement import as_row
from argosy.memory.planning import solve
from argosy.memory.planning.curves import curve
from argosy.memory.planning.online import RecentlyUsed
from argosy.memory.planning.plan import Plan
from argosy.memory.planning.quiet import stdout_to_stderr
from argosy.memory.planning.simulate import price
from argosy.memory.planning.solve import plan

MOVES = Moves(fetch_seconds_per_byte=0.01, evict_seconds_per_byte=0.01)
TURNS = Estimated(costs=make_costs([[8.0, 0.0], [0.0, 6.0]], [100, 100], order=[0, 0, 1, 1]), moves=MOVES)
SOLVERS = ["auto", "greedy", "exact", "exhaustive", "phases", "belady", "lru", "hysteresis"]


def _rows(estimator: Estimated, found: Plan) -> np.ndarray:
    """The plan as one row for each occurrence of a window."""
    now = dict(found.placement)
    changes = dict(found.schedule or ())
    rows = []
    for window in range(len(estimator.costs.order)):
        now |= changes.get(window, {})
        rows.append(as_row(now, estimator.costs.objects, fast=estimator.fast, slow=estimator.slow))
    return np.array(rows)


@pytest.mark.parametrize("solver", SOLVERS)
@given(costs=small_costs(most_objects=5), moves=moves, capacity=capacities, data=st.data())
@settings(max_examples=25, deadline=None)
def test_every_plan_keeps_the_capacity_and_what_must_be_fast_and_its_time_is_true(
    solver: str, costs: Costs, moves: Moves, capacity: int, data: st.DataObject
) -> None:
    must = data.draw(st.sets(st.sampled_from(costs.objects)))
    estimator = Estimated(costs=costs, moves=moves)
    least = sum(size for name, size in zip(costs.objects, costs.sizes, strict=True) if name in must)
    if least > capacity:
        with pytest.raises(CapacityTooSmall):
            plan(estimator, capacity, solver=solver, must_be_fast=must)
        return
    found = plan(estimator, capacity, solver=solver, must_be_fast=must)
    rows = _rows(estimator, found)
    fast_nbytes = ~rows @ np.array(costs.sizes)
    assert found.nbytes_fast == max(fast_nbytes) <= capacity
    assert not any(rows[:, costs.objects.index(name)].any() for name in must)
    assert found.seconds == pytest.approx(price(costs, moves, rows).seconds)
    assert found.bound is None or found.bound <= found.seconds + 1e-9
    assert Plan.from_json(json.loads(json.dumps(found.to_json()))) == found


@given(costs=small_costs(most_objects=6))
@settings(max_examples=15, deadline=None)
@pytest.mark.parametrize("solver", ["greedy", "exact"])
def test_more_memory_never_takes_longer(solver: str, costs: Costs) -> None:
    points = curve(costs, ["0%", "70%", "30%", "50%", "100%"], solver=solver)
    assert [nbytes for nbytes, _ in points] == sorted(nbytes for nbytes, _ in points)
    seconds = [seconds for _, seconds in points]
    assert seconds == sorted(seconds, reverse=True)


def test_a_curve_goes_from_nothing_to_everything() -> None:
    points = curve(TURNS)
    assert len(points) == 21
    assert points[0] == (0, 14.0)
    assert points[10] == (100, 6.0)
    assert points[-1] == (200, 0.0)


def test_a_curve_falls_also_for_a_policy_that_wastes_its_moves() -> None:
    dear = Estimated(costs=TURNS.costs, moves=Moves(fetch_seconds_per_byte=1.0, evict_seconds_per_byte=1.0))
    assert plan(dear, 200, solver="lru").seconds > 14.0
    assert curve(dear, [200, 0], solver="lru") == [(0, 14.0), (200, 14.0)]


def test_a_plan_speaks_of_the_tiers_of_its_estimator() -> None:
    found = plan(TURNS, "50%")
    assert found.placement == {"a": "ram", "b": "disk"}
    assert (found.solver, found.seconds, found.capacity, found.nbytes_fast) == ("exact", 6.0, 100, 100)
    assert found.schedule is None
    assert plan(TURNS.costs, 100).placement == {"a": "fast", "b": "slow"}


def test_a_schedule_names_the_window_and_the_changes() -> None:
    found = plan(TURNS, 100, solver="phases")
    assert found.placement == {"a": "ram", "b": "disk"}
    assert found.schedule == ((2, {"a": "disk", "b": "ram"}),)
    assert found.seconds == found.bound == pytest.approx(2.0)


def test_a_plan_reads_as_a_table() -> None:
    assert str(plan(TURNS, 100, solver="phases")).splitlines() == [
        "2.0 s predicted (phases, no plan of this kind below 2.0 s); 100 B of 100 B fast",
        "object        size  tier",
        "a            100 B  ram",
        "b            100 B  disk",
        "before window 2: a to disk, b to ram",
    ]


def test_a_long_schedule_is_cut_where_it_is_shown() -> None:
    found = Plan(
        placement={"a": "ram"},
        seconds=1.0,
        solver="belady",
        capacity=1,
        nbytes_fast=1,
        sizes={"a": 1},
        schedule=tuple((window, {"a": "disk" if window % 2 else "ram"}) for window in range(1, 31)),
    )
    assert str(found).endswith("and 10 more changes")


def test_without_scipy_auto_is_greedy_and_says_so() -> None:
    with mock.patch.object(solve, "have_scipy", return_value=False):
        found = plan(TURNS, 100)
    assert found.solver == "greedy"
    assert "argosy[memory]" in str(found)


def test_without_scipy_exact_says_what_to_install() -> None:
    with (
        mock.patch.dict(sys.modules, {"scipy.optimize": None}),
        pytest.raises(ModuleNotFoundError, match=r"argosy\[memory\]"),
    ):
        plan(TURNS, 100, solver="exact")


def test_a_schedule_needs_to_know_what_moves_cost() -> None:
    with pytest.raises(ValueError, match=r"solver 'phases' moves objects.*give moves="):
        plan(TURNS.costs, 100, solver="phases")
    assert plan(TURNS.costs, 100, solver="phases", moves=MOVES).seconds == pytest.approx(2.0)


def test_moves_given_win_over_those_of_the_estimator() -> None:
    dear = Moves(fetch_seconds_per_byte=1.0, evict_seconds_per_byte=1.0)
    assert plan(TURNS, 100, solver="phases", moves=dear).schedule == ()


def test_a_learned_plan_is_what_the_learned_policy_does() -> None:
    learning = types.ModuleType("argosy.memory.learning")
    learning.learned_policy = lambda *, costs: RecentlyUsed()  # type: ignore[attr-defined]
    with mock.patch.dict(sys.modules, {"argosy.memory.learning": learning}):
        found = plan(TURNS, 100, solver="learned")
    assert found.solver == "learned"
    assert found.schedule == plan(TURNS, 100, solver="lru").schedule


def test_an_unknown_solver_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="no solver 'best'; there are: auto, greedy, exact"):
        plan(TURNS, 100, solver="best")
    with pytest.raises(TypeError, match="solver must be a string, not 3"):
        plan(TURNS, 100, solver=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("fields", [{}, {"schedule": None}, {"schedule": None, "notes": [], "seconds": 1}])
def test_what_is_no_plan_is_refused(fields: Any) -> None:
    with pytest.raises(ValueError, match="this is not a plan as `to_json` gives it"):
        Plan.from_json(fields)


def test_a_plan_is_read_from_a_dictionary() -> None:
    with pytest.raises(TypeError, match=r"fields must be a dictionary, as `to_json` gives it, not \[\]"):
        Plan.from_json([])  # type: ignore[arg-type]


def test_no_objects_at_all_is_a_plan_too() -> None:
    costs = make_costs([[]], [], base=[3.0])
    for solver in SOLVERS:
        assert plan(Estimated(costs=costs, moves=MOVES), 0, solver=solver).seconds == 3.0


def test_what_a_library_prints_meanwhile_goes_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    os.write(1, b"before ")
    with stdout_to_stderr():
        os.write(1, b"noise")
    os.write(1, b"after")
    assert capfd.readouterr() == ("before after", "noise")


def test_planning_loads_scipy_only_where_it_is_used() -> None:
    code = "import sys, argosy.memory.planning.solve; sys.exit('scipy' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=50).returncode == 0
