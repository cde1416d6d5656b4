"""The examples run, and say what they promise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

from argosy.pilot.launch.mpiexec import find_mpiexec

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(*command: str | Path, folder: Path, **variables: str) -> str:
    environment = os.environ | variables | {"ARGOSY_RUNS": str(folder / "runs")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=55, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_thermometers_finds_warm_hours_and_writes_them(tmp_path: Path) -> None:
    said = run(sys.executable, EXAMPLES / "thermometers.py", "here", folder=tmp_path)
    warm = pq.read_table(tmp_path / "here" / "warm")
    assert warm.num_rows > 0
    assert f"{warm.num_rows} rows in here/warm" in said
    assert min(warm["above"].to_pylist()) > 1


def test_a_program_under_mpiexec_joins_groups_and_sorts_with_its_own_communicator(tmp_path: Path) -> None:
    mpiexec = find_mpiexec()
    assert mpiexec is not None
    command = mpiexec.command(2, [sys.executable, str(EXAMPLES / "with_communicator.py")])
    said = run(*command, folder=tmp_path, **mpiexec.environment(os.environ, one_machine=True))
    lines = said.splitlines()
    assert len(lines) == 5
    assert sum(int(line.split()[2]) for line in lines) == 20_000
    totals = [int(line.split()[4]) for line in lines]
    assert totals == sorted(totals, reverse=True)
