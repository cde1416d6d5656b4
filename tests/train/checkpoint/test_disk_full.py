"""A rank that cannot write fails all ranks, and leaves what was there."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from argosy.comm.ranks import Ranks
from argosy.comm.threads import on_threads
from argosy.errors import BadCheckpoint, DiskFull, PeerFailed
from argosy.train.checkpoint import Checkpoints, part, save

torch.set_num_threads(1)


def save_and_load(ranks: Ranks, folder: Path, size: int, error: type[Exception]) -> None:
    checkpoints = Checkpoints(folder, ranks)
    with pytest.raises(error):
        checkpoints.save(2, shared={"w": torch.zeros(size)}, own={"r": ranks.rank}, facts={})
    found = checkpoints.load()
    assert found is not None
    assert (found.step, found.own) == (1, {"r": ranks.rank})


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """With step 1, which must be all that is there in the end."""

    def first(ranks: Ranks) -> None:
        Checkpoints(tmp_path, ranks).save(1, shared={"w": torch.ones(5)}, own={"r": ranks.rank}, facts={})

    on_threads(3, first)
    yield tmp_path
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000001"]


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file of this process may grow beyond 256 KiB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 10, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("small_files")
def test_a_full_disk_is_told_on_all_ranks_and_the_last_good_one_stays(folder: Path) -> None:
    with pytest.raises(DiskFull, match=f"a checkpoint was being saved in {folder}; free some space"):
        on_threads(
            1, lambda ranks: Checkpoints(folder, ranks).save(2, shared={}, own={"w": torch.zeros(99_999)}, facts={})
        )
    on_threads(3, save_and_load, folder, 1_000_000, DiskFull)


def test_a_device_that_is_full_for_one_rank_is_told_on_all(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(path: Path, *args: Any) -> part.Part:
        if path.name == "rank-00001.bin":
            with open("/dev/full", "wb", buffering=0) as full:  # noqa: PTH123
                full.write(b"x")
        return part.write_part(path, *args)

    monkeypatch.setattr(save, "write_part", write)
    on_threads(3, save_and_load, folder, 10, DiskFull)


def test_a_manifest_that_cannot_be_written_fails_all_ranks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: Any) -> None:
        raise PermissionError(13, "may not")

    monkeypatch.setattr(save, "write_manifest", refuse)
    on_threads(3, save_and_load, folder, 10, BadCheckpoint)


def test_any_other_failure_of_a_rank_is_its_own_there_and_a_failed_peer_elsewhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(path: Path, *args: Any) -> part.Part:
        if path.name == "rank-00002.bin":
            raise MemoryError("too much")
        return part.write_part(path, *args)

    def go(ranks: Ranks) -> None:
        save_and_load(ranks, folder, 10, MemoryError if ranks.rank == 2 else PeerFailed)

    monkeypatch.setattr(save, "write_part", write)
    on_threads(3, go)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    def go(ranks: Ranks) -> None:
        with pytest.raises(BadCheckpoint, match=f"cannot be saved in {tmp_path / 'file' / 'run'}"):
            Checkpoints(tmp_path / "file" / "run", ranks).save(0, shared={}, own={}, facts={})

    on_threads(2, go)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_facts_that_are_not_json_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    def go(ranks: Ranks) -> None:
        with pytest.raises(TypeError, match="JSON"):
            Checkpoints(tmp_path, ranks).save(0, shared={}, own={}, facts={"a": object()})

    on_threads(2, go)
    assert list(tmp_path.iterdir()) == []
