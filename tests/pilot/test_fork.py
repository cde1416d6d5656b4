"""Forks: of the user's process, whose pilot stays with the parent, and of a rank, whose tasks do."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import argosy
from argosy.events import FILE_NAME, read

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture(scope="module")
def pilot() -> Iterator[argosy.Pilot]:
    with argosy.Pilot(ranks=2) as made:
        yield made


def in_child(do: Callable[[], object], seconds: float = 20) -> str:
    """What the child of a fork says; it must not hang. A test's own process must not go on in it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = str(do())
        except BaseException:
            said = traceback.format_exc()
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    deadline = time.monotonic() + seconds
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, 9)
            os.waitpid(child, 0)
            raise AssertionError("the child of a fork hangs")
        time.sleep(0.01)
    with os.fdopen(reading) as said_there:
        return said_there.read()


USES = {
    "submit": lambda pilot, _ended, _open: pilot.submit(abs, -1).result(),
    "map": lambda pilot, _ended, _open: list(pilot.map(abs, [1, 2])),
    "result": lambda _pilot, _ended, running: running.result(),
    "exception": lambda _pilot, _ended, running: running.exception() and running.result(),
    "wait": lambda _pilot, _ended, running: concurrent.futures.wait([running])[0].pop().result(),
    "as_completed": lambda _pilot, _ended, running: [
        one.result() for one in concurrent.futures.as_completed([running])
    ],
    "a kept value": lambda _pilot, kept, _running: kept.result(),
}


@pytest.mark.parametrize("use", USES)
def test_the_child_of_a_fork_is_told_that_the_pilot_is_not_its_own(pilot: argosy.Pilot, use: str) -> None:
    running, kept = pilot.submit(time.sleep, 600), pilot.submit(abs, -5, keep=True)
    kept.exception(timeout=20)
    called: list[object] = []
    running.add_done_callback(called.append)
    said = in_child(lambda: USES[use](pilot, kept, running))
    assert "PilotClosed" in said
    assert f"belongs to process {os.getpid()}" in said
    assert not running.done()
    assert called == []
    assert kept.result(timeout=20) == 5
    running.cancel()


def test_what_has_ended_can_be_read_in_the_child(pilot: argosy.Pilot) -> None:
    small, large = pilot.submit(abs, -3), pilot.submit(np.arange, 300_000)
    concurrent.futures.wait([small, large], timeout=20)
    assert in_child(lambda: (small.result(), int(large.result().sum()))) == str((3, sum(range(300_000))))
    assert large.result().sum() == sum(range(300_000))


SCRIPT = """
import argosy, atexit, gc, multiprocessing, os, sys
pilot = argosy.Pilot(ranks=2, folder=sys.argv[1])
kept = pilot.submit(list, range(10), keep=True)
large = pilot.submit(bytes, 3_000_000)
kept.exception(), large.exception()

def end(how):
    if how == "raises":
        raise KeyError("in the child")
    if how == "closes":
        pilot.close()
    if how == "leaves the block":
        with pilot:
            pass
    if how == "forgets":
        globals().pop("pilot"), globals().pop("kept"), globals().pop("large")
        gc.collect()
    sys.exit(0)

for how in ("exits", "raises", "closes", "leaves the block", "forgets"):
    child = os.fork()
    if child == 0:
        end(how)
    assert os.waitpid(child, 0)[1] == (256 if how == "raises" else 0), how
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(abs, range(-5, 0)) == [5, 4, 3, 2, 1]
assert kept.result(timeout=20) == list(range(10))
assert len(large.result(timeout=20)) == 3_000_000
assert len(set(pilot.submit(lambda comm: os.getpid(), ranks=2).results(timeout=20))) == 2
pilot.close()
print("well")
"""


def test_however_a_child_ends_the_pilot_goes_on(tmp_path: Path) -> None:
    """In a process of its own, whose end runs all that the interpreter does at its end."""
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout == "well\n", ended.stderr
    (run,) = tmp_path.iterdir()
    assert [event.state for event in read(run / FILE_NAME) if event.kind == "run"] == ["started", "ended"]


def test_a_child_that_lives_on_does_not_keep_the_pilot_from_ending(tmp_path: Path) -> None:
    pilot = argosy.Pilot(ranks=1, folder=tmp_path)
    pilot.submit(time.sleep, 600)
    child = os.fork()
    if child == 0:
        time.sleep(600)
        os._exit(0)
    closing = threading.Thread(target=pilot.close, args=(True,), daemon=True)
    closing.start()
    closing.join(20)
    os.kill(child, 9)
    os.waitpid(child, 0)
    assert not closing.is_alive()


def test_a_fork_of_a_rank_ends_with_its_function_and_answers_for_nobody(pilot: argosy.Pilot) -> None:
    def fork_and(ending: str) -> int:
        child = os.fork()
        if child == 0:
            if ending == "raises":
                raise KeyError("in the child of a rank")
            if ending == "exits":
                sys.exit(7)
            return 99
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    before = pilot.submit(os.getpid).result(timeout=20)
    endings = {"returns": 0, "raises": 1, "exits": 7}
    assert {ending: pilot.submit(fork_and, ending).result(timeout=20) for ending in endings} == endings
    assert pilot.submit(lambda comm: comm.allreduce(1), ranks=2).result(timeout=20) == 2
    assert before in pilot.submit(lambda comm: os.getpid(), ranks=2).results(timeout=20)


def square(x: int) -> int:
    return x * x


def test_a_task_may_use_processes_of_its_own(pilot: argosy.Pilot) -> None:
    def spread(comm: Any) -> list[int]:
        with multiprocessing.get_context("fork").Pool(2) as pool:
            squares = pool.map(square, range(4))
        return [comm.allreduce(one) for one in squares]

    assert pilot.submit(spread, ranks=2).result(timeout=40) == [0, 2, 8, 18]


def test_the_child_may_start_a_pilot_of_its_own(pilot: argosy.Pilot, tmp_path: Path) -> None:
    def own() -> int:
        with argosy.Pilot(ranks=1, folder=tmp_path) as mine:
            return int(mine.submit(abs, -8).result(timeout=30))

    assert in_child(own, 40) == "8"
    assert pilot.submit(abs, -1).result(timeout=20) == 1
