"""What a pilot leaves on a machine: nothing that others can read, and nothing for long when everything was killed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import argosy
from argosy.errors import FolderNotWritable
from argosy.pilot import estate
from argosy.pilot.launch import launched
from argosy.pilot.launch.guard import __name__ as guard_name

SCRIPT = """
import os, signal, sys, time
import argosy

os.umask(int(sys.argv[2]))
pilot = argosy.Pilot(ranks=2, folder=sys.argv[1])
pids = pilot.submit(lambda comm: (comm.barrier(), os.getpid())[1], ranks=2).results()
large = pilot.submit(bytes, 10_000_000)
large.exception()
program = pilot.submit(argosy.Executable(["sleep", "600"]))
while not (list(pilot.folder.glob("programs/*")) and program.running()):
    time.sleep(0.01)
print(pilot._estate.folder, *pilot._estate.folders[1:], flush=True)
if sys.argv[3:]:
    os.kill(pids[0], signal.SIGSTOP), os.kill(pids[1], signal.SIGSTOP)
print("ready", flush=True)
time.sleep(600)
"""


def start(folder: Path, umask: int, *more: str) -> tuple[subprocess.Popen[str], list[Path], list[psutil.Process]]:
    """The script, its estate, and all processes it has started."""
    command = [sys.executable, "-c", SCRIPT, str(folder), str(umask), *more]
    script = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert script.stdout is not None
    folders = [Path(word) for word in script.stdout.readline().split()]
    assert script.stdout.readline() == "ready\n"
    return script, folders, psutil.Process(script.pid).children(recursive=True)


@pytest.fixture
def living(tmp_path: Path) -> Iterator[argosy.Pilot]:
    with argosy.Pilot(ranks=1, folder=tmp_path / "living") as pilot:
        yield pilot


def test_nobody_else_can_look_into_what_a_pilot_writes_and_what_the_dead_left_is_cleared(
    living: argosy.Pilot, tmp_path: Path
) -> None:
    script, folders, family = start(tmp_path / "dead", 0, "stopped")
    (run,) = (tmp_path / "dead").iterdir()
    found = [run, *run.rglob("*"), *(path for folder in folders for path in [folder, *folder.rglob("*")])]
    mode = {path: stat.S_IMODE(path.stat().st_mode) for path in found}
    ours = [path for path in found if "mpi" not in path.parts and "memory" not in path.parts]  # the rest lies in these
    assert {path: mode[path] for path in ours if mode[path] != (0o700 if path.is_dir() else 0o600)} == {}
    assert len([path for path in ours if path.is_file()]) >= 8
    assert any(path.is_socket() for path in ours)

    (guard,) = (one for one in family if "argosy.pilot.launch.guard" in one.cmdline())
    guard.suspend(), script.send_signal(signal.SIGSTOP)  # so that neither sees the other die
    guard.kill(), script.kill()
    script.communicate()
    assert all(folder.exists() for folder in folders)
    assert any(one.is_running() and one.status() == psutil.STATUS_STOPPED for one in family)
    before = living.submit(os.getpid).result(timeout=20)
    with argosy.Pilot(ranks=1, folder=tmp_path / "next") as pilot:
        assert pilot.submit(abs, -1).result(timeout=20) == 1
        _, left = psutil.wait_procs(family, timeout=20)  # another pilot of this machine may be the one that clears
        assert [one.cmdline() for one in left if one.status() != psutil.STATUS_ZOMBIE] == []
        assert [path for path in [*folders, run / "keys"] if path.exists()] == []
        assert living._estate.folder.exists()
        assert living.submit(os.getpid).result(timeout=20) == before
        assert pilot._estate.folder not in estate.sweep()
        assert pilot.submit(abs, -1).result(timeout=20) == 1


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_pilot_that_closes_leaves_nothing_also_without_its_guard(
    how: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launched, "_MOST_SECONDS_FOR_GUARD", 0.5)
    others = psutil.Process().children(recursive=True)
    pilot = argosy.Pilot(ranks=2, folder=tmp_path)
    family = [one for one in psutil.Process().children(recursive=True) if one not in others]
    pilot.submit(time.sleep, 600)
    (guard,) = (one for one in family if guard_name in one.cmdline())
    guard.send_signal(how)
    pilot.close(cancel=True)
    _, alive = psutil.wait_procs(family, timeout=10)
    assert [one.cmdline() for one in alive] == []
    assert not pilot._estate.folder.exists()


def test_what_another_machine_or_another_hand_wrote_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estate, "_places", lambda: [tmp_path])
    precious = tmp_path / "precious"
    precious.mkdir()
    for number, words in enumerate(["", "[]", '{"host": "elsewhere", "folders": []}']):
        odd = tmp_path / f"argosy-pilot-{number}"
        odd.mkdir()
        (odd / "lock").touch()
        (odd / "belongings.json").write_text(words)
    (tmp_path / "argosy-pilot-link").symlink_to(precious)
    (tmp_path / "argosy-new-1").mkdir()
    there = sorted(tmp_path.iterdir())
    assert estate.sweep() == []
    mine = estate.make(tmp_path / "keys")
    assert estate.sweep() == []
    (mine.folder / "belongings.json").write_text(
        (mine.folder / "belongings.json")
        .read_text()
        .replace('"folders": [', f'"folders": ["{precious}", "../precious", ')
    )
    mine.let_go()
    assert estate.sweep() == [mine.folder]
    assert sorted(tmp_path.iterdir()) == there


def test_a_long_name_for_temporary_files_is_no_hindrance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("x" * 120) / ("y" * 120)
    long.mkdir(parents=True)
    monkeypatch.setattr(estate.tempfile, "tempdir", str(long))
    monkeypatch.setenv("TMPDIR", str(long))
    with argosy.Pilot(ranks=2, folder=tmp_path) as pilot:
        assert pilot.submit(lambda comm: comm.allreduce(1), ranks=2).results(timeout=20) == [2, 2]
        assert len(pilot.submit(bytes, 5_000_000).result(timeout=20)) == 5_000_000
        outside = argosy.Executable([sys.executable, "-c", "from mpi4py import MPI; print(MPI.COMM_WORLD.size)"])
        assert pilot.submit(outside, ranks=2).result(timeout=40).stdout.split() == ["2", "2"]
    assert list(long.iterdir()) == []


def test_a_home_that_cannot_be_written_says_what_to_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARGOSY_RUNS")
    monkeypatch.setenv("HOME", "/proc")
    with pytest.raises(FolderNotWritable, match="ARGOSY_RUNS"):
        argosy.Pilot(ranks=1)


def test_when_no_place_will_do_each_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr(estate, "_places", lambda: [Path("/proc"), long])
    with pytest.raises(FolderNotWritable, match=r"(?s)/proc: .*too long for a socket.*TMPDIR"):
        argosy.Pilot(ranks=1, folder=tmp_path)
    (run,) = (path for path in tmp_path.iterdir() if path != long)
    assert not (run / "keys").exists()
