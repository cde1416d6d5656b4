"""A dead rank costs one task."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

import argosy
from argosy.errors import RankLost

pytestmark = pytest.mark.usefixtures("needs_ulfm")


def die_once(marker: Path, how: str, comm: Any) -> int:
    """Rank 1 dies inside a collective of the others, the first time."""
    comm.barrier()
    if comm.rank == 1 and not marker.exists():
        marker.touch()
        match how:
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "segfault":
                signal.signal(signal.SIGSEGV, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGSEGV)
            case "exit":
                os._exit(7)
            case "memory":
                bytearray(2**50)
    return int(comm.allreduce(comm.rank))


@pytest.mark.parametrize(
    ("how", "signal_number", "exit_code"), [("kill", 9, None), ("segfault", 11, None), ("exit", None, 7)]
)
def test_the_loss_of_a_rank_names_rank_node_and_how(
    pilot: argosy.Pilot, marker: Path, how: str, signal_number: int | None, exit_code: int | None
) -> None:
    with pytest.raises(RankLost) as caught:
        pilot.submit(die_once, marker, how, ranks=3).result(timeout=30)
    error = caught.value
    assert (error.signal, error.exit_code, error.node) == (signal_number, exit_code, socket.gethostname())
    assert f"rank {error.rank} on node {error.node}" in str(error)


def test_running_out_of_memory_in_python_is_an_exception_like_any_other(pilot: argosy.Pilot, marker: Path) -> None:
    with pytest.raises(MemoryError):
        pilot.submit(die_once, marker, "memory", ranks=2).result(timeout=30)


def test_with_a_retry_it_runs_again_while_other_tasks_go_on(pilot: argosy.Pilot, tmp_path: Path) -> None:
    starts = tmp_path / "starts"

    def other(number: int) -> int:
        with starts.open("a") as file:
            file.write(f"{number}\n")
        time.sleep(0.05)
        return number

    for turn in range(4):
        others = [pilot.submit(other, turn * 10 + number) for number in range(5)]
        dying = pilot.submit(die_once, tmp_path / f"marker-{turn}", "kill", ranks=3, retries=1)
        assert dying.results(timeout=40) == [3, 3, 3]
        assert [future.result(timeout=40) for future in others] == [turn * 10 + number for number in range(5)]
    numbers = starts.read_text().split()
    assert sorted(numbers) == sorted(set(numbers)), "a task was started twice"


def test_lost_ranks_come_back(pilot: argosy.Pilot, marker: Path) -> None:
    before = set(pilot.submit(lambda comm: os.getpid(), ranks=4).results())
    with pytest.raises(RankLost):
        pilot.submit(die_once, marker, "kill", ranks=2).result(timeout=30)
    after = set(pilot.submit(lambda comm: os.getpid(), ranks=4).results(timeout=40))
    assert len(after) == 4
    assert len(after & before) == 3


def test_a_rank_that_dies_while_idle_is_replaced_too(pilot: argosy.Pilot) -> None:
    before = pilot.submit(lambda comm: os.getpid(), ranks=4).results()
    os.kill(before[2], signal.SIGKILL)
    after = pilot.submit(lambda comm: (os.getpid(), comm.allreduce(1)), ranks=4, retries=1).results(timeout=40)
    assert [count for _, count in after] == [4, 4, 4, 4]
    assert before[2] not in [pid for pid, _ in after]


def test_all_ranks_dying_at_once_is_survived(pilot: argosy.Pilot, marker: Path) -> None:
    def die_together(comm: Any) -> int:
        comm.barrier()
        if not marker.exists():
            comm.barrier()
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return int(comm.allreduce(1))

    def wait_for_marker() -> bool:
        return True

    assert pilot.submit(die_together, ranks=4, retries=1).result(timeout=50) == 4
    assert pilot.submit(wait_for_marker).result(timeout=40)
