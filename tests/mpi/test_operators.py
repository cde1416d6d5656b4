"""The operators under a real mpiexec at 1, 2, 3 and 5 ranks give what the reference does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from argosy.frame.prepare import prepare
from argosy.pilot.launch.mpiexec import find_mpiexec

TESTS = Path(__file__).parents[1]
WHOLE = 1 << 30
"""Nothing here is larger, so that every message goes in one piece."""


@pytest.fixture(scope="module", autouse=True)
def _kernels_are_compiled() -> None:
    prepare()


def compare(
    num_ranks: int, first_seed: int, num_plans: int, chunk_nbytes: int = WHOLE, two_levels_from: int = 64
) -> str:
    return _under_mpiexec(num_ranks, "compare.py", first_seed, num_plans, chunk_nbytes, two_levels_from)


def _under_mpiexec(num_ranks: int, name: str, *numbers: int) -> str:
    mpiexec = find_mpiexec()
    assert mpiexec is not None
    script = [sys.executable, str(TESTS / "mpi" / name)]
    env = mpiexec.environment(os.environ, one_machine=True)
    env["PYTHONPATH"] = os.pathsep.join([str(TESTS), *filter(None, [env.get("PYTHONPATH")])])
    command = mpiexec.command(num_ranks, [*script, *map(str, numbers)])
    done = subprocess.run(command, capture_output=True, text=True, timeout=55, env=env, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize(
    ("num_ranks", "num_plans", "chunk_nbytes"), [(1, 20, WHOLE), (2, 30, 64), (3, 20, WHOLE), (5, 8, 64)]
)
def test_random_plans_over_mpi_equal_the_reference(num_ranks: int, num_plans: int, chunk_nbytes: int) -> None:
    """In messages of one piece, and of very many."""
    result = compare(num_ranks, first_seed=1_000 * num_ranks, num_plans=num_plans, chunk_nbytes=chunk_nbytes)
    assert f"{num_plans} plans agree on {num_ranks} ranks" in result


def test_exchanges_in_two_steps_bring_the_same_rows() -> None:
    assert "8 plans agree on 5 ranks" in compare(5, first_seed=7, num_plans=8, chunk_nbytes=1_000, two_levels_from=2)


@pytest.mark.parametrize("num_ranks", [2, 3])
def test_a_rank_that_fails_or_differs_leaves_nobody_waiting(num_ranks: int) -> None:
    """Under plain mpiexec, where nothing else could free the others."""
    assert "all ranks got an error, and went on" in _under_mpiexec(num_ranks, "leaving.py")
