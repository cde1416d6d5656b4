"""The run's folder: what is in it, and what happens when it cannot be written."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import argosy
from argosy.errors import FolderNotWritable, NoMPI
from argosy.events import FILE_NAME, Event, read
from argosy.pilot import pilot as pilots
from argosy.pilot.folder import EventLog


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FolderNotWritable, match="ARGOSY_RUNS"):
        argosy.Pilot(ranks=1, folder=tmp_path / "file" / "runs")


def test_every_state_of_every_task_and_rank_is_an_event_in_order(tmp_path: Path) -> None:
    with argosy.Pilot(ranks=2, folder=tmp_path, name="story") as pilot:
        first = pilot.submit(lambda: time.sleep(0.1) or 1, name="first")
        second = pilot.submit(abs, first, name="second")
        second.result()
    events = list(read(pilot.folder / FILE_NAME))
    assert [event.time for event in events] == sorted(event.time for event in events)
    assert [(event.kind, event.state) for event in events if event.kind == "run"] == [
        ("run", "started"),
        ("run", "ended"),
    ]
    assert [event.id for event in events if event.state == "joined"] == [0, 1]
    states = {
        number: [event.state for event in events if (event.kind, event.id) == ("task", number)] for number in (0, 1)
    }
    assert states == {0: ["queued", "running", "done"], 1: ["waiting", "queued", "running", "done"]}


def test_a_full_disk_costs_the_log_and_not_the_tasks(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).symlink_to("/dev/full")
    log = EventLog(tmp_path)
    log.add(Event(0.0, "task", 1, "queued"))
    with pytest.warns(RuntimeWarning, match="the tasks go on"):
        log.flush()
    log.add(Event(0.0, "task", 1, "running"))
    log.flush()
    log.close()


def test_without_mpiexec_the_error_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pilots, "find_mpiexec", lambda: None)
    with pytest.raises(NoMPI, match=r"pip install 'argosy\[mpi\]'"):
        argosy.Pilot(ranks=1)


def test_ranks_that_do_not_come_up_are_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "mpiexec"
    bad.write_text("#!/bin/sh\necho the network is on fire >&2\nexit 3\n")
    bad.chmod(0o755)
    broken = pilots.Mpiexec(path=str(bad), flavour="other", version="1", ulfm=False)
    monkeypatch.setattr(pilots, "find_mpiexec", lambda: broken)
    with pytest.raises(argosy.errors.LaunchFailed, match="the network is on fire"):
        argosy.Pilot(ranks=1, folder=tmp_path)
