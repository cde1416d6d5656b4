"""How much memory the present task may add to its process, told by the rank to its keeper.

The keeper is another process: it sees memory grow also while the rank sits in C code and holds the interpreter's lock.
Both look at one page of memory. Tasks for which nothing was asked cost nothing.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
from typing import NamedTuple

from argosy.pilot.footprint import at_most_nbytes, clock


class Grant(NamedTuple):
    """For one attempt."""

    task: int
    attempt: int
    asked_nbytes: int
    """For one rank."""
    num_ranks: int
    """How many ranks of a program run below this one."""
    base_nbytes: int
    """What the rank took before it."""
    since: int
    """When it began, in the clock of `footprint`: processes started later are the task's."""

    @property
    def nbytes(self) -> int:
        return self.asked_nbytes * self.num_ranks


class Overdrawn(NamedTuple):
    """An attempt that took more than it was granted."""

    task: int
    attempt: int
    asked_nbytes: int
    num_ranks: int
    took_nbytes: int


_GRANT = struct.Struct("6q")
_OVER = struct.Struct("5q")
_OVER_AT = 64
_NO_GRANT = _GRANT.pack(0, 0, 0, 0, 0, 0)


class Allowance:
    """Made before the fork that parts keeper and rank."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE)
        self._hears, self._rings = os.pipe()
        os.set_blocking(self._rings, False)

    # The rank --------------------------------------------------------------------------------------------------------

    def begin(self, task: int, attempt: int, nbytes: int) -> None:
        self._write(Grant(task, attempt, nbytes, 1, at_most_nbytes(os.getpid()), clock()))
        with contextlib.suppress(BlockingIOError):  # it has been woken more than often enough
            os.write(self._rings, b"!")

    def widen(self, num_ranks: int) -> None:
        """What so many ranks may take is taken below this one."""
        grant = self.granted()
        if grant is not None:
            self._write(grant._replace(num_ranks=num_ranks))

    def end(self) -> None:
        self._page[: _GRANT.size] = _NO_GRANT

    def overdrawn(self, key: tuple[int, int]) -> Overdrawn | None:
        """What this attempt took, if that was found to be too much."""
        found = Overdrawn(*_OVER.unpack_from(self._page, _OVER_AT))
        return found if found.took_nbytes and (found.task, found.attempt) == key else None

    # The keeper ------------------------------------------------------------------------------------------------------

    def wait(self) -> None:
        """Until there is a grant, or was one."""
        os.read(self._hears, mmap.PAGESIZE)

    def granted(self) -> Grant | None:
        while True:
            said = self._page[: _GRANT.size]
            if said == self._page[: _GRANT.size]:  # else it is just being written
                grant = Grant(*_GRANT.unpack(said))
                return grant if grant.nbytes else None

    def tell(self, grant: Grant, took_nbytes: int) -> None:
        """The task has taken so much, and must end."""
        over = Overdrawn(grant.task, grant.attempt, grant.asked_nbytes, grant.num_ranks, took_nbytes)
        _OVER.pack_into(self._page, _OVER_AT, *over)

    def _write(self, grant: Grant) -> None:
        self._page[: _GRANT.size] = _GRANT.pack(*grant)
