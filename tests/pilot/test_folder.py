"""The run's folder: what is in it, and what happens when it cannot be written."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import argosy
from argosy.errors import FolderNotWritable, NoMPI, RankLost
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


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only who may mount has a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path) -> None:
    with contextlib.suppress(OSError), (place / "filling").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def shout() -> str:
    for _ in range(300):
        print("y" * 1000)
    return "said"


@pytest.mark.filterwarnings("ignore:events can no longer be written:RuntimeWarning")
def test_a_disk_that_fills_up_costs_no_task_and_no_pilot(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    with argosy.Pilot(ranks=2, folder=small_disk) as pilot:
        fill(small_disk)
        assert [pilot.submit(shout).result(timeout=30) for _ in range(3)] == ["said"] * 3
        assert len(pilot.submit(bytes, 3_000_000).result(timeout=30)) == 3_000_000
        with pytest.raises(RankLost):
            pilot.submit(os._exit, 3).result(timeout=30)
        assert pilot.submit(lambda comm: comm.allreduce(1), ranks=2, retries=1).results(timeout=60) == [2, 2]
    with pytest.raises(FolderNotWritable, match=r"No space left.*ARGOSY_RUNS"):
        argosy.Pilot(ranks=1, folder=small_disk)
    with argosy.Pilot(ranks=1, folder=tmp_path) as pilot:  # temporary files still have no room
        assert pilot.submit(abs, -1).result(timeout=30) == 1


def test_where_warnings_are_errors_a_full_disk_is_none_for_the_log(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).symlink_to("/dev/full")
    log = EventLog(tmp_path)
    log.add(Event(0.0, "task", 1, "queued"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log.close()
    assert stat.S_IMODE(Path("/dev/full").stat().st_mode) != 0o600


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
