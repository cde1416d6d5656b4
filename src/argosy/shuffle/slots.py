"""One rank's samples: in slots, each a chain of pages, in memory that worker processes share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from argosy.shuffle.arena import Arena
from argosy.shuffle.holdings import Ids, Moves
from argosy.shuffle.store import Bytes


class Slots:
    """A `Store`. Samples of one size take a page each; others take as many small pages as they need.

    Pages that a sample leaves are used again for those that arrive, so a rank never has more of them than for its own
    samples and those that arrive in one epoch.
    """

    def __init__(
        self,
        num_slots: int,
        *,
        sample_nbytes: int | None,
        page_nbytes: int,
        most_pages: int,
        folder: Path | None = None,
    ) -> None:
        """`sample_nbytes`: of every sample, and then also of a page. `most_pages`: more are not needed, or `make_room`
        will be called when it is known how many are."""
        self._uniform = sample_nbytes is not None
        self._arena = Arena(most_pages, page_nbytes, folder)
        self._first = Arena(num_slots, 8)
        self._nbytes = None if self._uniform else Arena(num_slots, 8)
        self._next = None if self._uniform else Arena(most_pages, 8)
        """How many pages further a chain goes on, less 1: of pages that lie side by side nothing is ever written."""
        self._free: Ids = np.empty(0, np.int64)
        """In ascending order: what lies close together is written, and read, at once."""
        self._used = 0
        """Pages from here on were never used."""
        self._arrived: list[tuple[Ids, Ids, Ids]] = []

    def __len__(self) -> int:
        return self._first.num_pages

    @property
    def sample_nbytes(self) -> int | None:
        return self._arena.page_nbytes if self._uniform else None

    @property
    def nbytes_used(self) -> int:
        """Bytes of memory or disk, for samples and for finding them."""
        arenas = (self._arena, self._first, self._nbytes, self._next)
        return sum(arena.nbytes_used for arena in arenas if arena is not None)

    def sizes(self, slots: Ids) -> Ids:
        if self._nbytes is None:
            return np.full(len(slots), self._arena.page_nbytes, np.int64)
        sizes: Ids = self._nbytes.numbers[slots]
        return sizes

    def rows(self, slots: Ids) -> Bytes:
        """Samples of one size, each a row: a copy."""
        rows = np.empty((len(slots), self._arena.page_nbytes), np.uint8)
        return np.take(self._arena.pages, self._first.numbers[slots], axis=0, out=rows, mode="clip")

    def packed(self, slot: int) -> Bytes:
        """One sample of any size: a copy."""
        nbytes = int(self.sizes(np.array([slot]))[0])
        return self._arena.pages[self._chain(slot, nbytes)].reshape(-1)[:nbytes]

    def read(self, slots: Ids, sizes: Ids, into: Bytes) -> None:
        if self._uniform:
            rows = into.reshape(len(slots), self._arena.page_nbytes)
            np.take(self._arena.pages, self._first.numbers[slots], axis=0, out=rows, mode="clip")
            return
        ends = np.cumsum(sizes)
        for slot, begin, end in zip(slots.tolist(), (ends - sizes).tolist(), ends.tolist(), strict=True):
            into[begin:end] = self.packed(slot)

    def arrive(self, slots: Ids, sizes: Ids, packed: Bytes) -> None:
        self._arrived.append((slots, sizes, self._written(sizes, packed)))

    def put(self, slots: Ids, sizes: Ids, packed: Bytes) -> None:
        """Samples of the present epoch, into slots that are empty."""
        self._first.numbers[slots] = self._written(sizes, packed)
        if self._nbytes is not None:
            self._nbytes.numbers[slots] = sizes

    def make_room(self, num_pages: int) -> None:
        """Before others map the same pages."""
        if num_pages > self._arena.num_pages:
            self._arena.grow(num_pages)
            if self._next is not None:
                self._next.grow(num_pages)

    def turn(self, moves: Moves) -> None:
        self._free = np.sort(np.concatenate([self._free, self._pages_of(moves.sent)]))
        for index in (self._first, self._nbytes):
            if index is not None:
                index.numbers[moves.shifted_to] = index.numbers[moves.shifted]
        for slots, sizes, pages in self._arrived:
            self._first.numbers[slots] = pages
            if self._nbytes is not None:
                self._nbytes.numbers[slots] = sizes
        self._arrived.clear()

    def _pages_of(self, slots: Ids) -> Ids:
        if self._uniform:
            pages: Ids = self._first.numbers[slots]
            return pages
        sizes = self.sizes(slots).tolist()
        chains = [self._chain(slot, nbytes) for slot, nbytes in zip(slots.tolist(), sizes, strict=True)]
        return np.array([page for chain in chains for page in chain], np.int64)

    def _chain(self, slot: int, nbytes: int) -> list[int]:
        pages = [int(self._first.numbers[slot])]
        if self._next is not None:
            following = self._next.numbers
            for _ in range(self.pages_for(nbytes) - 1):
                pages.append(pages[-1] + 1 + int(following[pages[-1]]))
        return pages

    def pages_for(self, nbytes: int) -> int:
        return max(1, -(-nbytes // self._arena.page_nbytes))

    def _written(self, sizes: Ids, packed: Bytes) -> Ids:
        """The first page of each of these samples."""
        if self._uniform:
            taken = self._taken(len(sizes))
            self._arena.pages[taken] = packed.reshape(len(sizes), self._arena.page_nbytes)
            return taken
        firsts = []
        end = 0
        for nbytes in sizes.tolist():
            begin, end = end, end + nbytes
            firsts.append(self._write_one(packed[begin:end]))
        return np.array(firsts, np.int64)

    def _write_one(self, packed: Bytes) -> int:
        assert self._next is not None, "samples differ in size"
        pages = self._taken(self.pages_for(len(packed)))
        page_nbytes = self._arena.page_nbytes
        whole = len(packed) // page_nbytes
        if whole:
            self._arena.pages[pages[:whole]] = packed[: whole * page_nbytes].reshape(whole, page_nbytes)
        if len(packed) > whole * page_nbytes:
            self._arena.pages[pages[whole], : len(packed) - whole * page_nbytes] = packed[whole * page_nbytes :]
        jumps = np.diff(pages) - 1
        told = self._next.numbers
        changed = np.flatnonzero(told[pages[:-1]] != jumps)
        told[pages[changed]] = jumps[changed]
        return int(pages[0])

    def _taken(self, count: int) -> Ids:
        """Free pages, or else fresh ones."""
        fresh = count - len(self._free)
        if fresh > 0:
            if self._used + fresh > self._arena.num_pages:  # only while samples of unknown sizes are loaded
                self.make_room(2 * (self._used + fresh))
            self._arena.reserve(self._used + fresh)
            self._free = np.concatenate([self._free, np.arange(self._used, self._used + fresh, dtype=np.int64)])
            self._used += fresh
        taken, self._free = self._free[:count], self._free[count:]
        return taken

    def __getstate__(self) -> dict[str, Any]:
        """Another process can read."""
        return {**self.__dict__, "_free": np.empty(0, np.int64), "_arrived": []}
