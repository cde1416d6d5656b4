"""Programs as tasks."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

import argosy
from argosy import Executable
from argosy.errors import ExecutableFailed, TaskTimeout

MPI_PROGRAM = "from mpi4py import MPI; w = MPI.COMM_WORLD; print(w.allreduce(w.rank), w.size)"


def test_a_program_runs_and_what_it_printed_is_kept(pilot: argosy.Pilot) -> None:
    done = pilot.submit(Executable(["sh", "-c", "echo out; echo err >&2"])).result()
    assert (done.returncode, done.stdout, done.stderr) == (0, "out\n", "err\n")
    assert done.stdout_path.parent.parent == pilot.folder


def test_an_mpi_program_has_a_world_of_its_own(pilot: argosy.Pilot) -> None:
    done = pilot.submit(Executable([sys.executable, "-c", MPI_PROGRAM]), ranks=3).result(timeout=40)
    assert sorted(done.stdout.split("\n")) == ["", "3 3", "3 3", "3 3"]


def test_without_mpi_each_rank_runs_a_copy_of_its_own(pilot: argosy.Pilot) -> None:
    copies = Executable(["sh", "-c", "echo $ARGOSY_RANK of $ARGOSY_NUM_RANKS"], mpi=False)
    assert [done.stdout for done in pilot.submit(copies, ranks=3).results()] == ["0 of 3\n", "1 of 3\n", "2 of 3\n"]


def test_a_status_other_than_0_is_an_error_that_shows_the_last_words(pilot: argosy.Pilot) -> None:
    failing = ["sh", "-c", "echo the reason >&2; exit 4"]
    with pytest.raises(ExecutableFailed, match="status 4") as caught:
        pilot.submit(Executable(failing)).result()
    assert caught.value.returncode == 4
    assert "the reason" in str(caught.value)
    assert pilot.submit(Executable(failing, check=False)).result().returncode == 4


def test_a_program_that_is_not_there_is_named(pilot: argosy.Pilot) -> None:
    with pytest.raises(FileNotFoundError, match="no-such-solver"):
        pilot.submit(Executable(["no-such-solver"])).result()
    with pytest.raises(ValueError, match="list of words"):
        Executable("ls -l")


def test_folder_and_environment_are_as_asked(pilot: argosy.Pilot, tmp_path: Path) -> None:
    asked = Executable(["sh", "-c", "pwd; echo $COLOUR"], folder=tmp_path, environment={"COLOUR": "blue"})
    assert pilot.submit(asked).result().stdout == f"{tmp_path}\nblue\n"


def test_a_timeout_ends_the_program_and_what_it_started(pilot: argosy.Pilot, tmp_path: Path) -> None:
    script = f"(while true; do date +%s%N > {tmp_path}/beat; sleep 0.05; done) & sleep 600"
    with pytest.raises(TaskTimeout):
        pilot.submit(Executable(["sh", "-c", script]), timeout=0.5).result(timeout=20)
    time.sleep(0.3)
    last = (tmp_path / "beat").read_text()
    time.sleep(0.3)
    assert (tmp_path / "beat").read_text() == last
