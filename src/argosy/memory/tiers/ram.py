"""Main memory."""

from __future__ import annotations

import mmap
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from argosy.memory.tiers.tier import Room, asked_nbytes, full
from argosy.resources.discover.memory import available_nbytes


class Ram:
    """Main memory, as much as the machine has free or `capacity` allows."""

    name = "ram"

    def __init__(self, capacity: str | int | None = None) -> None:
        self._room = Room(self.name, capacity)

    def check(self) -> None:
        """Every machine has it."""

    def hold(self, nbytes: int) -> RamBlock:
        nbytes = asked_nbytes(nbytes)
        self._room.claim(nbytes, free=available_nbytes())
        try:
            return RamBlock(nbytes, self._room)
        except (MemoryError, OSError) as error:
            self._room.release(nbytes)
            raise full(self.name, nbytes, available_nbytes()) from error

    def settle(self) -> None:
        """Nothing is ever under way."""


class RamBlock:
    """Pages of its own, so that nothing else shares a cache line or a page with it."""

    def __init__(self, nbytes: int, room: Room) -> None:
        self.nbytes = nbytes
        self._room = room
        pages = mmap.mmap(-1, max(nbytes, 1))
        with suppress(OSError):  # a system without huge pages
            pages.madvise(mmap.MADV_HUGEPAGE)
        self._bytes: NDArray[np.uint8] = np.frombuffer(pages, np.uint8, nbytes)

    def open(self) -> NDArray[np.uint8]:
        return self._bytes

    def rest(self, *, written: bool) -> None:
        """Main memory keeps what it has."""

    def free(self) -> None:
        self._room.release(self.nbytes)
        self._bytes = self._bytes[:0]
