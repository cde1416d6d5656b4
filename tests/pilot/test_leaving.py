"""However a pilot ends, no process, key or socket is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import argosy
from argosy.errors import PilotClosed
from argosy.pilot.settings import Settings

SCRIPT = """
import os, sys, time
import argosy

pilot = argosy.Pilot(ranks=2, folder=sys.argv[1])
pids = pilot.submit(lambda comm: os.getpid(), ranks=2).results()
program = pilot.submit(argosy.Executable(["sleep", "600"]))
large = pilot.submit(bytes, 10_000_000)
time.sleep(0.3)
print(*pids, flush=True)
{ending}
"""

ENDINGS = {
    "closed": "pilot.close(cancel=True)",
    "forgotten": "",
    "raised": "raise KeyError('oops')",
    "waiting": "pilot.submit(time.sleep, 600).result()",
    "hanging in C": "pilot.submit(lambda: __import__('ctypes').PyDLL(None).sleep(600)); time.sleep(600)",
}


def start(ending: str, folder: Path) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    """The script in a process of its own, and every process it has started, once its ranks are up."""
    script = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(ending=ENDINGS[ending]), str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert script.stdout is not None
    script.stdout.readline()
    if script.poll() is not None:
        return script, []
    family = psutil.Process(script.pid).children(recursive=True)
    return script, family


def assert_all_gone(family: list[psutil.Process], folder: Path) -> None:
    _, alive = psutil.wait_procs(family, timeout=15)
    assert [process.cmdline() for process in alive] == []
    (run,) = folder.iterdir()
    secrets = [run / "keys", *map(Path, Settings.load(run).shelf)]
    for _ in range(100):
        if not any(path.exists() for path in secrets):
            return
        time.sleep(0.05)
    raise AssertionError("keys or large cargo are still there")


@pytest.mark.parametrize("ending", ["closed", "forgotten", "raised"])
def test_a_script_that_ends_leaves_nothing(ending: str, tmp_path: Path) -> None:
    script, family = start(ending, tmp_path)
    script.communicate(timeout=30)
    assert script.returncode == (1 if ending == "raised" else 0)
    assert_all_gone(family, tmp_path)


@pytest.mark.parametrize("ending", ["waiting", "hanging in C"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_script_that_is_interrupted_or_killed_leaves_nothing(
    ending: str, number: signal.Signals, tmp_path: Path
) -> None:
    script, family = start(ending, tmp_path)
    assert len(family) >= 6  # guard, mpiexec, two keepers, two ranks
    script.send_signal(number)
    script.communicate(timeout=30)
    assert_all_gone(family, tmp_path)


def test_leaving_the_block_waits_for_all_tasks(tmp_path: Path) -> None:
    with argosy.Pilot(ranks=2, folder=tmp_path) as pilot:
        future = pilot.submit(lambda: time.sleep(0.3) or "done")
    assert future.result() == "done"
    pilot.close()  # more calls do nothing


def test_leaving_the_block_by_an_exception_ends_the_tasks(tmp_path: Path) -> None:
    futures = []

    def leave() -> None:
        with argosy.Pilot(ranks=1, folder=tmp_path) as pilot:
            futures.append(pilot.submit(time.sleep, 600))
            raise KeyError

    with pytest.raises(KeyError):
        leave()
    with pytest.raises(PilotClosed):
        futures[0].result()


def test_a_fork_of_the_users_process_does_not_close_the_pilot(tmp_path: Path) -> None:
    with argosy.Pilot(ranks=1, folder=tmp_path) as pilot:
        script = "import sys; sys.exit(0)"
        subprocess.run([sys.executable, "-c", script], check=True)
        child = os.fork()
        if child == 0:
            pilot.close(cancel=True)
            os._exit(0)
        os.waitpid(child, 0)
        assert pilot.submit(lambda: 5).result(timeout=20) == 5
