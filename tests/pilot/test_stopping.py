"""Cancel and timeout: a rank leaves a collective and plain Python; one in C code that never lets go is replaced."""

from __future__ import annotations

import concurrent.futures
import ctypes
import os
import time
from typing import Any

import pytest

import argosy
from argosy.errors import TaskTimeout
from argosy.pilot.task import State

pytestmark = pytest.mark.usefixtures("needs_ulfm")


def wait_in_a_collective(comm: Any) -> None:
    if comm.rank > 0:
        comm.barrier()
    else:
        time.sleep(600)


def wait_in_python() -> None:
    while True:
        time.sleep(0.01)


def wait_in_c() -> None:
    ctypes.PyDLL(None).sleep(600)  # PyDLL keeps the interpreter's lock: no other Python thread can run


def pids(pilot: argosy.Pilot) -> set[int]:
    return set(pilot.submit(lambda comm: os.getpid(), ranks=4).results())


@pytest.mark.parametrize(("function", "ranks"), [(wait_in_a_collective, 3), (wait_in_python, 2)])
def test_a_hang_ends_at_its_timeout_and_the_ranks_live_on(pilot: argosy.Pilot, function: Any, ranks: int) -> None:
    before = pids(pilot)
    with pytest.raises(TaskTimeout, match=r"0\.3 s"):
        pilot.submit(function, ranks=ranks, timeout=0.3).result(timeout=20)
    assert pids(pilot) == before


def test_a_rank_that_hangs_in_c_code_is_replaced_at_its_timeout(pilot: argosy.Pilot) -> None:
    before = pids(pilot)
    with pytest.raises(TaskTimeout):
        pilot.submit(wait_in_c, timeout=0.3).result(timeout=20)
    after = pids(pilot)
    assert len(after) == 4
    assert len(after & before) == 3


def test_a_running_task_can_be_cancelled(pilot: argosy.Pilot) -> None:
    future = pilot.submit(wait_in_a_collective, ranks=4)
    while not future.running():
        time.sleep(0.01)
    assert future.cancel()
    assert future.cancelled()
    assert future.state is State.CANCELLED
    with pytest.raises(concurrent.futures.CancelledError):
        future.result()
    assert pilot.submit(lambda comm: comm.size, ranks=4).result(timeout=20) == 4


def test_a_queued_task_that_is_cancelled_never_runs(pilot: argosy.Pilot, marker: Any) -> None:
    blocker = pilot.submit(lambda comm: time.sleep(0.3), ranks=4)
    future = pilot.submit(marker.touch)
    assert future.cancel()
    blocker.result()
    assert pilot.submit(lambda comm: comm.size, ranks=4).result(timeout=20) == 4
    assert not marker.exists()


def test_a_task_that_has_ended_cannot_be_cancelled(pilot: argosy.Pilot) -> None:
    future = pilot.submit(lambda: 1)
    assert future.result() == 1
    assert not future.cancel()
    assert future.state is State.DONE


def test_a_timeout_uses_a_retry(pilot: argosy.Pilot, marker: Any) -> None:
    def slow_once() -> str:
        if not marker.exists():
            marker.touch()
            time.sleep(600)
        return "quick"

    assert pilot.submit(slow_once, timeout=1.0, retries=1).result(timeout=20) == "quick"
