"""`argosy scale`: what it prints, what it refuses, and how it stops."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import Run
from train.problems import blob_task

from argosy.train.study import runs as running
from argosy.train.tasks import TASKS

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _a_small_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS, "blobs", blob_task)
    monkeypatch.setattr("argosy.train.study.conduct.write_plots", lambda *_: [])
    running._task.cache_clear()


def words(out: Path, *others: str) -> Sequence[str]:
    return ("scale", "--task", "blobs", "--workers", "1,4", "--virtual", "--ranks", "1", "--out", str(out), *others)


def test_json_is_one_object_on_stdout_and_nothing_else(argosy: Run, tmp_path: Path) -> None:
    result = argosy(*words(tmp_path / "out", "--seeds", "2", "--json"))
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["ceiling"] == pytest.approx(1 + found["phi"] / 4)
    wanted = {"workers", "target", "s_par", "e_stat", "s_learn", "low", "high", "kind", "s_par_kind", "e_stat_kind"}
    assert all(wanted | {"residual"} <= set(row) for row in found["rows"])
    assert {row["kind"] for row in found["rows"]} == {"measured", "modelled"}
    assert {row["workers"] for row in found["rows"]} == {1, 4}


def test_the_ceiling_is_the_first_number_shown_and_the_table_follows(argosy: Run, tmp_path: Path) -> None:
    result = argosy(*words(tmp_path / "out", "--seeds", "2"))
    assert result.exit_code == 0
    assert result.stdout.startswith("ceiling of learning speed-up: ")
    assert "S_learn" in result.stdout
    assert f"are in {tmp_path / 'out'}" in result.stdout


def test_one_seed_says_why_there_is_no_interval(argosy: Run, tmp_path: Path) -> None:
    result = argosy(*words(tmp_path / "out", "--seeds", "1", "--json"))
    assert all(row["low"] is None and row["high"] is None for row in json.loads(result.stdout)["rows"])
    assert "there is one seed" in argosy(*words(tmp_path / "out", "--seeds", "1")).stdout


def test_ctrl_c_ends_it_and_tells_how_to_go_on(argosy: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    perform = running.perform

    def stopping(assignment: Any, comm: Any = None) -> None:
        if assignment.workers == 4:
            raise KeyboardInterrupt
        perform(assignment, comm)

    monkeypatch.setattr("argosy.train.study.crew.perform", stopping)
    result = argosy(*words(tmp_path / "out", "--seeds", "2"))
    assert result.exit_code == 130
    assert "stopped; the runs that were done are in" in result.stderr
    assert "Go on with: argosy" in result.stderr
    assert not result.stdout
    monkeypatch.setattr("argosy.train.study.crew.perform", perform)
    assert argosy(*words(tmp_path / "out", "--seeds", "2")).exit_code == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--workers", "1,two"), "whole numbers with commas between them, like 1,2,8; not '1,two'"),
        (("--workers", ""), "whole numbers with commas"),
        (("--workers", "1,0"), "1 or more, not 0"),
        (("--workers", "1,4,4"), "4 workers are there twice"),
        (("--task", "blob"), "there is no task 'blob', did you mean 'blobs'?"),
        (("--targets", "high"), "targets are 'auto', or values of the metric"),
        (("--lr-rule", "lineal"), "no learning-rate rule 'lineal'"),
        (("--data", "somewhere"), "has no files: leave --data out"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(
    argosy: Run, tmp_path: Path, given: Sequence[str], said: str
) -> None:
    result = argosy(*words(tmp_path / "out"), *given)
    assert result.exit_code != 0
    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert not result.stdout
    assert not (tmp_path / "out").exists()
