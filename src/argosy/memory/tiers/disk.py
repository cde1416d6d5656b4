"""Disk, used as memory: mapped files whose pages are dropped whenever no window uses them."""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

from argosy.errors import NoTier, disk_is_full
from argosy.memory.tiers.tier import Room, full

IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})


class Disk:
    """Files without a name in `folder`, so that nothing is left behind however the process ends."""

    name = "disk"

    def __init__(self, folder: str | Path | None = None, capacity: str | int | None = None) -> None:
        self._asked = None if folder is None else Path(folder)
        self._room = Room(self.name, capacity)

    @property
    def folder(self) -> Path:
        """The one that was asked for, else the first usual place on a disk. Raises `NoTier` if there is none."""
        usual = (Path(tempfile.gettempdir()), Path("/var/tmp"), Path.cwd())
        places = (self._asked,) if self._asked is not None else usual
        why = ""
        for place in places:
            if not place.is_dir() or not os.access(place, os.W_OK):
                why = why or f"{place} is not a folder that can be written to"
            elif (kind := file_system(place)) in IN_MEMORY:
                why = why or f"{place} is kept in memory ({kind})"
            else:
                return place
        raise NoTier(f"there is no disk to place objects on: {why}; name another folder: Disk('/path/on/a/disk')")

    def check(self) -> None:
        _ = self.folder

    def hold(self, nbytes: int) -> DiskBlock:
        folder = self.folder
        self._room.claim(nbytes)
        try:
            return DiskBlock(nbytes, folder, self._room)
        except OSError as error:
            self._room.release(nbytes)
            if disk_is_full(error):
                free = os.statvfs(folder)
                raise full(self.name, nbytes, free.f_bavail * free.f_frsize) from error
            raise

    def settle(self) -> None:
        """A window's end waits for its own writes."""


class DiskBlock:
    """One mapped file. Its place on disk is reserved at once, so that a full disk shows here and not by a signal.

    The file ends with the block, also where nobody frees it.
    """

    def __init__(self, nbytes: int, folder: Path, room: Room) -> None:
        self.nbytes = nbytes
        self._room = room
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            self._file = os.dup(file.fileno())
        self._close = weakref.finalize(self, os.close, self._file)
        try:
            os.posix_fallocate(self._file, 0, max(nbytes, 1))
            self._pages = mmap.mmap(self._file, max(nbytes, 1))
        except BaseException:
            self._close()
            raise
        self._bytes: NDArray[np.uint8] = np.frombuffer(self._pages, np.uint8, nbytes)

    def open(self) -> NDArray[np.uint8]:
        return self._bytes

    def rest(self, *, written: bool) -> None:
        """Writes back what was written, and drops the pages from this process and from the system's cache."""
        if written:
            self._pages.flush()
        self._pages.madvise(mmap.MADV_DONTNEED)
        os.posix_fadvise(self._file, 0, 0, os.POSIX_FADV_DONTNEED)

    def free(self) -> None:
        self._room.release(self.nbytes)
        self._bytes = self._bytes[:0]
        self._close()


def file_system(folder: Path) -> str:
    """The kind of the file system that a folder is on; "" if the machine does not say."""
    where = folder.resolve()
    mounts = [part for part in psutil.disk_partitions(all=True) if where.is_relative_to(part.mountpoint)]
    return max(mounts, key=lambda part: len(part.mountpoint)).fstype if mounts else ""
