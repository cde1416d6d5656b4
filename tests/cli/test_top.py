from __future__ import annotations

import time
from pathlib import Path

import pytest
from command_line import Run, write

from argosy.cli import top as command
from argosy.events import Event


def at_each_wait(monkeypatch: pytest.MonkeyPatch, *actions: object) -> None:
    """In place of the first wait do the first of these, and so on; one too many waits is an error."""
    rest = iter(actions)
    monkeypatch.setattr(command.time, "sleep", lambda _seconds: next(rest)())  # type: ignore[operator]


def test_one_frame_shows_the_run_its_ranks_its_tasks_and_what_failed(argosy: Run, live_run: Path) -> None:
    shown = argosy("top", live_run, "--once")
    assert shown.exit_code == 0
    for text in ("study", "2 ranks", "Open MPI 5.0.11", "2 tasks", "1 running", "1 failed", "tasks/s"):
        assert text in shown.output
    rows = [line.split() for line in shown.output.splitlines()]
    assert ["alpha", "0", "busy", "2", "join"] in [row[:5] for row in rows]
    assert ["1", "idle"] in [row[:2] for row in rows]
    assert ["broken", "ZeroDivisionError:", "division", "by", "zero", "[1/0]"] in rows
    assert "has ended" not in shown.output


def test_without_a_folder_it_shows_the_newest_run(argosy: Run, live_run: Path) -> None:
    assert live_run.name == "study-1"
    assert "study" in argosy("top", "--once").output


def test_without_any_run_it_says_where_it_looked_and_what_to_do(argosy: Run, runs: Path) -> None:
    result = argosy("top")
    assert result.exit_code == 1
    assert f"there is no run in {runs} yet" in result.stderr
    assert "argosy demo" in result.stderr


def test_it_follows_a_run_to_its_end_and_says_so(argosy: Run, live_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = live_run / "events.jsonl"
    at_each_wait(
        monkeypatch,
        lambda: write(file, Event(time.time(), "task", 2, "done")),
        lambda: write(file, Event(time.time(), "run", 0, "ended")),
    )
    shown = argosy("top", live_run)
    assert shown.exit_code == 0
    assert "1 done" in shown.output
    assert f"the run has ended; for its summary: argosy report {live_run}" in shown.output


def test_control_c_leaves_quietly(argosy: Run, live_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    at_each_wait(monkeypatch, interrupt)
    result = argosy("top", live_run)
    assert result.exit_code == 0
    assert "Abort" not in result.output
    assert result.stderr == ""


def test_a_file_that_is_cut_and_written_anew_starts_the_view_anew(
    argosy: Run, live_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = live_run / "events.jsonl"
    at_each_wait(
        monkeypatch,
        lambda: file.write_text('{"time": 17, "ki'),
        lambda: file.write_text(""),
        lambda: write(file, Event(5, "run", 0, "started", {"name": "second"}), Event(6, "run", 0, "ended")),
    )
    shown = argosy("top", live_run).output
    last = shown[shown.rindex("second") :]
    assert "0 tasks" in last
    assert "has ended" in last


def test_lines_that_are_no_events_are_mentioned(argosy: Run, live_run: Path) -> None:
    with (live_run / "events.jsonl").open("a") as file:
        file.write("what?\n")
    assert "1 lines of events.jsonl are no events" in argosy("top", live_run, "--once").output


def test_many_ranks_are_shown_node_by_node(argosy: Run, live_run: Path) -> None:
    joined = [Event(2, "rank", rank, "joined", {"node": f"n{rank // 40}"}) for rank in range(2, 4000)]
    write(live_run / "events.jsonl", *joined)
    shown = argosy("top", live_run, "--once").output
    rows = [line.split() for line in shown.splitlines()]
    assert ["alpha", "2", "1", "1", "0"] in rows
    assert ["n0", "38", "0", "38", "0"] in rows
    assert "nodes more" in shown
    assert len(shown.splitlines()) < 60
