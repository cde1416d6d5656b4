from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from argosy.report.runs import find_run, newest_run


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ARGOSY_RUNS", str(tmp_path))
    return tmp_path


def make_run(runs: Path, name: str, mtime: int) -> Path:
    (runs / name).mkdir()
    file = runs / name / "events.jsonl"
    file.touch()
    os.utime(file, (mtime, mtime))
    return runs / name


def test_the_newest_run_is_the_one_written_to_last(runs: Path) -> None:
    newest = make_run(runs, "a", mtime=2000)
    make_run(runs, "b", mtime=1000)
    (runs / "not-a-run").mkdir()
    assert newest_run(runs) == find_run(None) == newest


def test_a_run_is_found_by_its_folder_by_its_events_and_by_its_name(runs: Path) -> None:
    run = make_run(runs, "a", mtime=1000)
    assert find_run(run) == find_run(run / "events.jsonl") == find_run(Path("a")) == run


def test_where_no_run_is_the_message_names_the_folder_and_what_to_do(runs: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"no run in {re.escape(str(runs))}.*argosy demo"):
        find_run(None)


def test_a_folder_that_is_no_run_is_named(runs: Path) -> None:
    with pytest.raises(FileNotFoundError, match=re.escape(f"no events.jsonl in {runs / 'elsewhere'}")):
        find_run(runs / "elsewhere")


def test_without_a_setting_runs_are_looked_for_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARGOSY_RUNS", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    home = tmp_path / ".argosy" / "runs"
    home.mkdir(parents=True)
    run = make_run(home, "a", mtime=1000)
    assert find_run(None) == run
