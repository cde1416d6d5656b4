from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Run

from argosy.cli import doctor_checks as checks
from argosy.cli.doctor_checks import Mark
from argosy.pilot.launch.mpiexec import Mpiexec

ULFM = Mpiexec(path="/opt/mpiexec", flavour="openmpi", version="5.0.11", ulfm=True)
MPICH = Mpiexec(path="/opt/mpiexec", flavour="mpich", version="4.2", ulfm=False)


def fake_program(folder: Path, name: str, script: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_on_this_machine_two_ranks_really_meet(argosy: Run, runs: Path) -> None:
    result = argosy("doctor", "--json")
    found = {finding["what"]: finding for finding in json.loads(result.stdout)}
    assert result.exit_code == 0, result.stdout
    assert found["mpi4py"]["mark"] == "ok"
    assert "two ranks met" in found["mpi4py"]["found"]
    assert found["runs folder"]["found"] == f"{runs} can be written to"


def test_without_mpi_it_says_how_to_get_one_and_ends_with_status_1(
    argosy: Run, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not runs.exists()
    monkeypatch.setattr(checks, "find_mpiexec", lambda: None)
    result = argosy("doctor")
    assert result.exit_code == 1
    assert "missing  mpiexec" in result.stdout
    assert "pip install 'argosy[mpi]'" in result.stdout


def test_a_runs_folder_that_cannot_be_made_is_missing_and_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    finding = checks.check_runs_folder(tmp_path / "file" / "runs")
    assert finding.mark is Mark.MISSING
    assert "Not a directory" in finding.found
    assert "ARGOSY_RUNS" in finding.todo


def test_looking_leaves_nothing_in_the_runs_folder(tmp_path: Path) -> None:
    assert checks.check_runs_folder(tmp_path).mark is Mark.OK
    assert list(tmp_path.iterdir()) == []


def test_an_mpi_without_ulfm_works_with_a_limit() -> None:
    assert checks.check_mpiexec(ULFM).mark is Mark.OK
    finding = checks.check_mpiexec(MPICH)
    assert finding.mark is Mark.WARN
    assert "a lost rank restarts all ranks" in finding.found


def test_two_ranks_that_are_each_alone_mean_that_mpi4py_has_another_mpi() -> None:
    finding = checks.judge_mpi4py("4.1.2", True, 0, "size 1 ulfm\nsize 1 ulfm\n")
    assert finding.mark is Mark.MISSING
    assert "another MPI than this mpiexec" in finding.todo


@pytest.mark.parametrize(("ulfm", "mark"), [(True, Mark.WARN), (False, Mark.OK)])
def test_a_library_without_ulfm_under_an_mpiexec_that_has_it_is_a_warning(ulfm: bool, mark: Mark) -> None:
    assert checks.judge_mpi4py("4.1.2", ulfm, 0, "size 2 plain\nsize 2 plain\n").mark is mark


def test_ranks_that_fail_are_quoted() -> None:
    finding = checks.judge_mpi4py("4.1.2", True, 1, "some noise\nImportError: libmpi.so.40\n-------\n")
    assert finding.mark is Mark.MISSING
    assert finding.found == "4.1.2: two ranks ended with status 1: ImportError: libmpi.so.40"


def test_ranks_that_hang_are_told_apart_from_ranks_that_fail() -> None:
    assert "hung" in checks.judge_mpi4py("4.1.2", True, None, "").found


def test_an_mpiexec_that_cannot_be_started_is_a_finding_not_an_error() -> None:
    finding = checks.check_mpi4py(ULFM)
    assert finding.mark is Mark.MISSING
    assert "No such file or directory: '/opt/mpiexec'" in finding.found


def test_an_old_python_is_missing() -> None:
    assert checks.check_python((3, 10, 4)).mark is Mark.MISSING
    assert checks.check_python((3, 11, 0)).mark is Mark.OK


@pytest.mark.parametrize(
    ("env", "sbatch", "words"),
    [
        ({"SLURM_JOB_ID": "42", "SLURM_JOB_NUM_NODES": "4"}, "/bin/sbatch", "inside Slurm job 42 on 4 node(s)"),
        ({}, "/bin/sbatch", "not inside a job"),
        ({}, None, "none: a pilot uses this machine"),
    ],
)
def test_the_scheduler_is_named(env: dict[str, str], sbatch: str | None, words: str) -> None:
    assert words in checks.check_scheduler(env, lambda _program: sbatch).found


def test_gpus_are_counted_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_program(tmp_path, "nvidia-smi", "echo 'NVIDIA H200, 143771 MiB'; echo 'NVIDIA H200, 143771 MiB'")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert checks.check_gpus().found == "2: NVIDIA H200, 143771 MiB"


def test_a_driver_that_fails_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_program(tmp_path, "nvidia-smi", "echo 'no driver'; exit 9")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    finding = checks.check_gpus()
    assert finding.mark is Mark.WARN
    assert "no driver" in finding.found


def test_a_machine_without_gpus_is_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checks.check_gpus().mark is Mark.OK


def test_shared_memory_that_is_not_there_is_a_warning(tmp_path: Path) -> None:
    assert checks.check_shared_memory(tmp_path / "shm").mark is Mark.WARN


def test_the_disk_of_a_folder_that_is_not_there_yet_is_that_of_its_parent(tmp_path: Path) -> None:
    assert "free" in checks.check_free_disk("disk", tmp_path / "a" / "b").found
