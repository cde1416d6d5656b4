"""`memory=` is measured: a task that takes more ends with what it asked for and what it took."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import argosy
from argosy import Executable
from argosy.errors import MemoryExceeded
from argosy.pilot import footprint
from argosy.units import format_nbytes

MB = 10**6
TAKE = "b = bytearray(150_000_000); import time; time.sleep(60)"


@pytest.fixture(scope="module")
def two() -> Iterator[argosy.Pilot]:
    with argosy.Pilot(ranks=2) as pilot:
        yield pilot


def take(nbytes: int, seconds: float = 60) -> int:
    held = np.ones(nbytes, np.uint8)
    time.sleep(seconds)
    return int(held[-1])


def take_in_a_child(start: str) -> None:
    child = multiprocessing.get_context(start).Process(target=take, args=(150 * MB,), daemon=True)
    child.start()
    try:
        child.join()
    finally:
        child.kill()


def take_in_a_program() -> None:
    subprocess.run([sys.executable, "-c", TAKE], check=True)


def share(comm: Any) -> None:
    """Waits in a collective for a rank that never comes to it."""
    if comm.rank == 1:
        take(150 * MB)
    comm.barrier()


def will_not_end() -> None:
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    take(150 * MB)


def took_too_much(error: MemoryExceeded, asked: int = 50 * MB) -> None:
    assert error.asked_nbytes == asked
    assert asked < error.took_nbytes < 500 * MB
    assert f"took {format_nbytes(error.took_nbytes)} on rank" in str(error)


@pytest.mark.parametrize(
    ("function", "args", "ranks"),
    [(take, (150 * MB,), 1), (take_in_a_child, ("fork",), 1), (take_in_a_program, (), 1), (share, (), 2)],
)
def test_a_task_over_its_memory_ends_and_its_ranks_live(
    two: argosy.Pilot, function: Any, args: tuple[Any, ...], ranks: int
) -> None:
    before = two.submit(os.getpid, ranks=2).results()
    with pytest.raises(
        MemoryExceeded, match=r"asked for memory='47.7 MiB' and took .* on rank \d.*ask for more"
    ) as told:
        two.submit(function, *args, ranks=ranks, memory=50 * MB).result(timeout=30)
    took_too_much(told.value)
    assert two.submit(os.getpid, ranks=2).results() == before


def test_a_program_over_its_memory_is_ended(two: argosy.Pilot) -> None:
    with pytest.raises(MemoryExceeded) as told:
        two.submit(Executable([sys.executable, "-c", TAKE]), memory=50 * MB).result(timeout=30)
    took_too_much(told.value)
    with pytest.raises(MemoryExceeded) as told:
        two.submit(Executable([sys.executable, "-c", TAKE]), ranks=2, memory=100 * MB).result(timeout=30)
    assert told.value.asked_nbytes * told.value.num_ranks == 200 * MB < told.value.took_nbytes
    assert "memory='95.4 MiB' for each of 2 ranks" in str(told.value)


def test_what_is_within_it_is_let_be(two: argosy.Pilot) -> None:
    kept = two.submit(np.ones, 200 * MB, np.uint8, keep=True)  # what an earlier task left is not this one's
    assert two.submit(take, 30 * MB, 0.3, memory=50 * MB).result() == 1
    assert two.submit(take, 100 * MB, 0.3, memory=150 * MB).result() == 1
    assert two.submit(lambda there: int(there[0]), kept, memory=10 * MB).result() == 1
    done = two.submit(Executable([sys.executable, "-c", "b = bytearray(30_000_000)"]), ranks=2, memory=50 * MB)
    assert done.result().returncode == 0


def forks_beside_much() -> int:
    held = np.ones(40 * MB, np.uint8)
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(0.5,))
    child.start()
    child.join()
    return int(held.sum())


def maps_a_file(path: Path) -> int:
    return int(np.memmap(path, np.uint8, "r").sum())


def test_shared_pages_and_files_count_fairly(two: argosy.Pilot, tmp_path: Path) -> None:
    assert two.submit(forks_beside_much, memory=60 * MB).result() == 40 * MB
    (tmp_path / "file").write_bytes(bytes(200 * MB))
    assert two.submit(maps_a_file, tmp_path / "file", memory=50 * MB).result() == 0


def test_a_task_that_does_not_heed_is_ended_with_its_rank(two: argosy.Pilot) -> None:
    before = two.submit(os.getpid, ranks=2).results()
    with pytest.raises(MemoryExceeded) as told:
        two.submit(will_not_end, memory=50 * MB).result(timeout=30)
    took_too_much(told.value)
    assert two.submit(os.getpid, ranks=2).results() != before


def test_retries_run_it_again(two: argosy.Pilot, tmp_path: Path) -> None:
    def once() -> str:
        if (tmp_path / "marker").exists():
            return "again"
        (tmp_path / "marker").touch()
        take(150 * MB)
        return "never"

    assert two.submit(once, memory=50 * MB, retries=1).result(timeout=30) == "again"


def test_a_process_that_is_no_more_takes_nothing() -> None:
    child = subprocess.Popen(["sleep", "60"])
    since = footprint.clock()
    try:
        assert 0 < footprint.fair_nbytes(child.pid) <= footprint.at_most_nbytes(child.pid) < 50 * MB
        assert child.pid in footprint.descendants(os.getpid(), since - 100)
        assert child.pid not in footprint.descendants(os.getpid(), since + 100)
    finally:
        child.kill()
        child.wait()
    assert footprint.at_most_nbytes(child.pid) == footprint.fair_nbytes(child.pid) == 0
