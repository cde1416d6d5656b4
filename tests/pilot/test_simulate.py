"""The schedule under a simulated clock."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from argosy.cli import app
from argosy.pilot.simulate import SimulationResult, simulate, workload


def simulated(result: SimulationResult) -> dict[str, Any]:
    measured = {"setup_seconds", "wall_seconds", "placements_per_second"}
    return {name: figure for name, figure in asdict(result).items() if name not in measured}


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 120), st.integers(0, 5))
def test_every_task_is_placed_once_and_no_rank_is_busy_more_than_all_the_time(
    nodes: int, ranks_per_node: int, tasks: int, seed: int
) -> None:
    result = simulate(nodes, ranks_per_node, tasks, seed)
    assert result.placements == tasks
    assert 0 <= result.utilisation <= 1 + 1e-9
    assert 0 <= result.utilisation_until_last_start <= 1 + 1e-9
    jobs = workload(nodes, ranks_per_node, tasks, seed)
    used = sum(job.seconds * job.task.need.ranks for job in jobs)
    assert result.utilisation * result.makespan_seconds * nodes * ranks_per_node == pytest.approx(used)
    assert result.makespan_seconds >= max((job.submitted + job.seconds for job in jobs), default=0.0)


def test_the_same_seed_gives_the_same_simulated_figures() -> None:
    assert simulated(simulate(20, 8, 400, 3)) == simulated(simulate(20, 8, 400, 3))
    assert simulated(simulate(20, 8, 400, 3)) != simulated(simulate(20, 8, 400, 4))


def test_one_rank_runs_the_tasks_one_after_the_other() -> None:
    result = simulate(1, 1, 50, 0)
    assert result.utilisation_until_last_start == pytest.approx(1.0)


def test_a_machine_of_a_hundred_times_the_nodes_does_not_cost_a_hundred_times_as_much() -> None:
    """Loose on purpose, for busy machines: linear work in the nodes would show as a factor of tens."""
    small = min(simulate(20, 8, 3000, 0).wall_seconds for _ in range(2))
    large = min(simulate(2000, 8, 3000, 0).wall_seconds for _ in range(2))
    assert large < 10 * small


def test_the_command_says_which_figures_are_simulated_and_which_are_measured() -> None:
    asked = ["simulate", "--nodes", "3", "--ranks-per-node", "4", "--tasks", "20"]
    shown = CliRunner().invoke(app, asked).stdout.splitlines()
    assert any("in use until last end" in line and "simulated" in line for line in shown)
    assert any("placements per second" in line and "measured" in line for line in shown)
    figures = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    assert figures["placements"] == 20
