"""Where the MPI does not survive a death, the world is the fault domain: it restarts, and what was lost runs again."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

import argosy
from argosy.errors import RankLost, TaskTimeout
from argosy.pilot import pilot as pilots


@pytest.fixture(autouse=True)
def _no_ulfm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with Open MPI: started without its fault tolerance, like an older one."""
    mpiexec = pilots.find_mpiexec()
    assert mpiexec is not None
    plain = pilots.Mpiexec(path=mpiexec.path, flavour=mpiexec.flavour, version=mpiexec.version, ulfm=False)
    monkeypatch.setattr(pilots, "find_mpiexec", lambda: plain)


def die_once(marker: Path, comm: Any) -> int:
    comm.barrier()
    if comm.rank == 1 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return int(comm.allreduce(1))


def test_a_death_restarts_the_world_and_what_was_lost_runs_again(marker: Path, tmp_path: Path) -> None:
    def wait() -> None:
        with (tmp_path / "starts").open("a") as file:
            file.write("x")
        time.sleep(30)

    with argosy.Pilot(ranks=3) as pilot:
        kept = pilot.submit(lambda: 5, keep=True)
        assert pilot.submit(lambda value: value + 1, kept).result() == 6
        bystander = pilot.submit(wait, retries=1)
        dying = pilot.submit(die_once, marker, ranks=2, retries=1)
        assert dying.results(timeout=40) == [2, 2]
        assert bystander.cancel()
        assert (tmp_path / "starts").read_text() == "xx"
        assert pilot.submit(lambda value: value + 2, kept).result(timeout=40) == 7, "the kept value was not made again"


def test_without_retries_everything_in_flight_is_lost_and_says_so(marker: Path) -> None:
    with argosy.Pilot(ranks=3) as pilot:
        bystander = pilot.submit(time.sleep, 30)
        with pytest.raises(RankLost) as caught:
            pilot.submit(die_once, marker, ranks=2).result(timeout=40)
        assert caught.value.signal == signal.SIGKILL
        with pytest.raises(RankLost):
            bystander.result(timeout=40)
        assert pilot.submit(lambda comm: comm.size, ranks=3).result(timeout=40) == 3


def test_an_exception_or_a_timeout_frees_ranks_that_wait_in_a_collective() -> None:
    def fail(comm: Any) -> None:
        if comm.rank == 0:
            raise KeyError("alone")
        comm.barrier()

    def hang(comm: Any) -> None:
        if comm.rank == 0:
            comm.recv(source=1)
        else:
            comm.barrier()

    with argosy.Pilot(ranks=2) as pilot:
        with pytest.raises(KeyError, match="alone"):
            pilot.submit(fail, ranks=2).result(timeout=40)
        with pytest.raises(TaskTimeout):
            pilot.submit(hang, ranks=2, timeout=0.2).result(timeout=40)
        assert pilot.submit(lambda comm: comm.size, ranks=2).result(timeout=40) == 2
