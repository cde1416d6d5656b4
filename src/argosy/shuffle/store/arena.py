"""Memory that worker processes share: pages of one size, in a file without a name."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy.errors import DiskFull, disk_is_full
from argosy.units import format_nbytes


class Arena:
    """`num_pages` pages of `page_nbytes`, of which memory or disk is only used as they are written to.

    In memory, or in a folder of the disk. The file has no name, so nothing is left behind however the process ends. A
    process that an arena is sent to maps the same pages, as long as the first one lives.
    """

    def __init__(self, num_pages: int, page_nbytes: int, folder: Path | None = None) -> None:
        self.page_nbytes = page_nbytes
        self._folder = folder
        self._reserved = 0
        self._file = _unnamed_file(folder)
        self.grow(num_pages)

    def grow(self, num_pages: int) -> None:
        """Not while other processes map it: they would not see the new pages."""
        self.num_pages = num_pages
        nbytes = max(num_pages * self.page_nbytes, 1)
        with self._saying_full(nbytes):
            os.ftruncate(self._file, nbytes)
        self._map()

    def _map(self) -> None:
        self._mapped = mmap.mmap(self._file, max(self.num_pages * self.page_nbytes, 1))
        flat = np.frombuffer(self._mapped, np.uint8, self.num_pages * self.page_nbytes)
        self.pages: NDArray[np.uint8] = flat.reshape(self.num_pages, self.page_nbytes)

    def reserve(self, num_pages: int) -> None:
        """Before the first so many pages are written to: a disk that is too full says so here, and not by a signal."""
        if self._folder is None or num_pages <= self._reserved:
            return
        nbytes = (num_pages - self._reserved) * self.page_nbytes
        with self._saying_full(nbytes):
            os.posix_fallocate(self._file, self._reserved * self.page_nbytes, nbytes)
        self._reserved = num_pages

    @contextmanager
    def _saying_full(self, nbytes: int) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if self._folder is None or not disk_is_full(error):
                raise
            free = os.statvfs(self._folder)
            there = format_nbytes(free.f_bavail * free.f_frsize)
            raise DiskFull(
                str(self._folder), f"{format_nbytes(nbytes)} more are needed for samples, and {there} are free"
            ) from error

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The same memory, as whole numbers."""
        return self.pages.reshape(-1).view(np.int64)

    @property
    def nbytes_used(self) -> int:
        """Of memory or disk."""
        return os.fstat(self._file).st_blocks * 512

    def __getstate__(self) -> dict[str, Any]:
        path = f"/proc/{os.getpid()}/fd/{self._file}"
        return {"page_nbytes": self.page_nbytes, "num_pages": self.num_pages, "path": path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.page_nbytes, self.num_pages = state["page_nbytes"], state["num_pages"]
        self._folder, self._reserved = None, 0
        self._file = os.open(state["path"], os.O_RDWR)
        self._map()

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # else it was never opened
            os.close(self._file)


def _unnamed_file(folder: Path | None) -> int:
    if folder is None and hasattr(os, "memfd_create"):
        return os.memfd_create("argosy-samples")
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        return os.dup(file.fileno())
