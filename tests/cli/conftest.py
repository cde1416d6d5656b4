from __future__ import annotations

import time
from pathlib import Path

import pytest
from command_line import Run, write
from typer.testing import CliRunner

from argosy.cli import app
from argosy.events import Event


@pytest.fixture
def argosy(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call the command line in this process, on a wide terminal."""
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *args: CliRunner().invoke(app, [str(arg) for arg in args])


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of runs."""
    folder = tmp_path / "runs"
    monkeypatch.setenv("ARGOSY_RUNS", str(folder))
    return folder


@pytest.fixture
def live_run(runs: Path) -> Path:
    """The folder of a run that goes on: two ranks, one task at work, one that failed."""
    folder = runs / "study-1"
    folder.mkdir(parents=True)
    start = time.time()
    write(
        folder / "events.jsonl",
        Event(start, "run", 0, "started", {"name": "study", "pid": 1, "mpi": "Open MPI 5.0.11", "ulfm": True}),
        Event(start, "rank", 0, "joined", {"node": "alpha", "pid": 2}),
        Event(start, "rank", 1, "joined", {"node": "alpha", "pid": 3}),
        Event(start, "task", 1, "queued", {"name": "broken", "ranks": 1}),
        Event(start, "task", 1, "running", {"name": "broken", "attempt": 0, "ranks": [1]}),
        Event(start, "task", 1, "failed", {"error": "Traceback ...\nZeroDivisionError: division by zero [1/0]"}),
        Event(start, "task", 2, "queued", {"name": "join", "ranks": 1}),
        Event(start, "task", 2, "running", {"name": "join", "attempt": 0, "ranks": [0]}),
    )
    return folder
