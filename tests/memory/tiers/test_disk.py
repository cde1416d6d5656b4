"""Disk used as memory: nothing of it stays in main memory between windows, and a full disk is an error in time."""

from __future__ import annotations

import ctypes
import errno
import gc
import os
from pathlib import Path

import numpy as np
import pytest

from argosy.errors import NoTier, TierFull
from argosy.memory import Disk
from argosy.memory.tiers.disk import IN_MEMORY, DiskBlock, file_system

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident_pages(block: DiskBlock) -> int:
    """How many of its pages the system holds in main memory, by its own word."""
    libc = ctypes.CDLL(None, use_errno=True)
    count = -(-block.nbytes // PAGE)
    found = (ctypes.c_ubyte * count)()
    address = block.open().ctypes.data
    assert libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(block.nbytes), found) == 0
    return sum(byte & 1 for byte in found)


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    if file_system(tmp_path) in IN_MEMORY:
        pytest.skip("temporary files are kept in memory here")
    return Disk(tmp_path)


def test_pages_are_really_dropped_when_a_window_ends(disk: Disk) -> None:
    block = disk.hold(64 * PAGE)
    block.open()[:] = 7
    assert resident_pages(block) == 64
    block.rest(written=True)
    assert resident_pages(block) == 0
    assert int(block.open().sum()) == 7 * 64 * PAGE
    block.rest(written=False)
    assert resident_pages(block) == 0
    block.free()


def test_bytes_come_back_as_they_were_written(disk: Disk) -> None:
    wanted = np.random.default_rng(0).integers(0, 256, 10_001, dtype=np.uint8)
    block = disk.hold(len(wanted))
    block.open()[:] = wanted
    block.rest(written=True)
    assert (block.open() == wanted).all()
    block.free()


def test_files_have_no_name(disk: Disk, tmp_path: Path) -> None:
    block = disk.hold(PAGE)
    assert list(tmp_path.iterdir()) == []
    block.free()


def test_a_block_that_nobody_frees_takes_its_file_along(disk: Disk) -> None:
    def open_files() -> set[str]:
        return {str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()}

    before = open_files()
    block = disk.hold(PAGE)
    assert open_files() - before
    del block
    gc.collect()
    assert not {name for name in open_files() - before if "deleted" in name}


def test_a_freed_file_serves_the_next_of_its_size_unless_somebody_still_looks_at_it(disk: Disk) -> None:
    def inode(block: DiskBlock) -> int:
        return os.fstat(block._file.number).st_ino

    first = disk.hold(3 * PAGE)
    known = inode(first)
    first.free()
    second = disk.hold(3 * PAGE)
    assert inode(second) == known
    seen = second.open()
    seen[:] = 5
    second.free()
    third = disk.hold(3 * PAGE)
    assert inode(third) != known
    third.open()[:] = 6
    assert (seen == 5).all()


def test_files_kept_for_later_make_room_on_a_full_disk(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.hold(PAGE).free()
    reserve, refused = os.posix_fallocate, []

    def full_once(*where: int) -> None:
        if not refused:
            refused.append(where)
            raise OSError(errno.ENOSPC, "No space left on device")
        reserve(*where)

    monkeypatch.setattr(os, "posix_fallocate", full_once)
    disk.hold(2 * PAGE).free()
    assert len(refused) == 1


def test_a_capacity_is_kept_and_freed_room_can_be_used_again(tmp_path: Path) -> None:
    disk = Disk(tmp_path, capacity=3 * PAGE)
    block = disk.hold(2 * PAGE)
    with pytest.raises(TierFull, match=r"8\.0 KiB are needed and 4\.0 KiB are free"):
        disk.hold(2 * PAGE)
    block.free()
    disk.hold(3 * PAGE).free()


def test_a_full_disk_is_an_error_when_room_is_asked_for(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", no_room)
    with pytest.raises(TierFull, match="tier 'disk' is full"):
        disk.hold(PAGE)


def test_a_disk_cannot_hold_more_than_it_has(disk: Disk) -> None:
    with pytest.raises(TierFull):
        disk.hold(1 << 60)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no folder in memory")
def test_a_folder_in_memory_is_not_a_disk() -> None:
    with pytest.raises(NoTier, match=r"/dev/shm is kept in memory \(tmpfs\)"):
        Disk("/dev/shm").check()


def test_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoTier, match="not a folder that can be written to"):
        Disk(tmp_path / "nowhere").check()


def test_an_object_without_bytes_is_held(disk: Disk) -> None:
    block = disk.hold(0)
    assert block.open().nbytes == 0
    block.rest(written=True)
    block.free()
