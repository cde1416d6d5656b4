"""Disk, used as memory: mapped files whose pages are dropped whenever no window uses them."""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

from argosy import arguments
from argosy.errors import NoTier, disk_is_full
from argosy.memory.tiers.files import File, Spare, reserved
from argosy.memory.tiers.tier import Room, asked_nbytes, full

IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})


class Disk:
    """Files without a name in `folder`, so that nothing is left behind however the process ends."""

    name = "disk"

    def __init__(self, folder: str | Path | None = None, capacity: str | int | None = None) -> None:
        self._asked = None if folder is None else Path(arguments.path("folder", folder))
        self._room = Room(self.name, capacity)
        self._spare = Spare()

    @property
    def folder(self) -> Path:
        """The one that was asked for, else the first usual place on a disk. Raises `NoTier` if there is none."""
        usual = (Path(tempfile.gettempdir()), Path("/var/tmp"), Path.cwd())
        places = (self._asked,) if self._asked is not None else usual
        why = ""
        for place in places:
            if not os.path.isdir(place) or not os.access(place, os.W_OK):  # noqa: PTH112 - a name too long is no folder
                why = why or f"{arguments.show(str(place))} is not a folder that can be written to"
            elif (kind := file_system(place)) in IN_MEMORY:
                why = why or f"{place} is kept in memory ({kind})"
            else:
                return place
        raise NoTier(f"there is no disk to place objects on: {why}; name another folder: Disk('/path/on/a/disk')")

    def check(self) -> None:
        _ = self.folder

    def hold(self, nbytes: int) -> DiskBlock:
        nbytes = asked_nbytes(nbytes)
        folder = self.folder
        self._room.claim(nbytes)
        try:
            file = self._spare.take(nbytes) or self._reserve(nbytes, folder)
            return DiskBlock(nbytes, file, self._room, self._spare)
        except OSError as error:
            self._room.release(nbytes)
            if disk_is_full(error):
                free = os.statvfs(folder)
                raise full(self.name, nbytes, free.f_bavail * free.f_frsize) from error
            raise

    def _reserve(self, nbytes: int, folder: Path) -> File:
        try:
            return reserved(nbytes, folder)
        except OSError as error:
            if not disk_is_full(error) or not self._spare.drop():
                raise
            return reserved(nbytes, folder)

    def settle(self) -> None:
        """A window's end waits for its own writes."""


class DiskBlock:
    """One mapped file."""

    def __init__(self, nbytes: int, file: File, room: Room, spare: Spare) -> None:
        self.nbytes = nbytes
        self._room = room
        self._file = file
        self._spare = spare
        self._pages = mmap.mmap(file.number, max(nbytes, 1))
        self._bytes: NDArray[np.uint8] = np.frombuffer(self._pages, np.uint8, nbytes)

    def open(self) -> NDArray[np.uint8]:
        return self._bytes

    def rest(self, *, written: bool) -> None:
        """Writes back what was written, and drops the pages from this process and from the system's cache."""
        if written:
            self._pages.flush()
        self._pages.madvise(mmap.MADV_DONTNEED)
        os.posix_fadvise(self._file.number, 0, 0, os.POSIX_FADV_DONTNEED)

    def free(self) -> None:
        self._room.release(self.nbytes)
        self._bytes = np.empty(0, np.uint8)
        try:
            self._pages.close()
        except BufferError:  # somebody still looks at a value: the file is his alone
            self._file.close()
        else:
            self._spare.keep(self.nbytes, self._file)


def file_system(folder: Path) -> str:
    """The kind of the file system that a folder is on; "" if the machine does not say."""
    where = folder.resolve()
    mounts = [part for part in psutil.disk_partitions(all=True) if where.is_relative_to(part.mountpoint)]
    return max(mounts, key=lambda part: len(part.mountpoint)).fstype if mounts else ""
