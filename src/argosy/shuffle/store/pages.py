"""Pages for the samples of one rank: those that a sample leaves are used again for the next that arrives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from argosy.shuffle.holdings import Ids
from argosy.shuffle.store import Bytes
from argosy.shuffle.store.arena import Arena


class Pages:
    """In memory that worker processes share, or on the disk."""

    def __init__(self, most_pages: int, page_nbytes: int, folder: Path | None) -> None:
        self._arena = Arena(most_pages, page_nbytes, folder)
        self.page_nbytes = page_nbytes
        self._free: Ids = np.empty(0, np.int64)
        """In ascending order: what lies close together is written, and read, at once."""
        self._used = 0
        """Pages from here on were never used."""

    @property
    def rows(self) -> Bytes:
        return self._arena.pages

    @property
    def nbytes_used(self) -> int:
        return self._arena.nbytes_used

    @property
    def num_free(self) -> int:
        return len(self._free)

    def first_free(self, count: int) -> Ids:
        """Those that `take` would give; fewer where fresh ones would be among them."""
        return self._free[:count]

    def take(self, count: int) -> Ids:
        """Free pages, or else fresh ones."""
        fresh = count - len(self._free)
        taken, self._free = self._free[:count], self._free[count:]
        return taken if fresh <= 0 else np.concatenate([taken, self.take_fresh(fresh)])

    def take_fresh(self, count: int) -> Ids:
        """Side by side."""
        first, self._used = self._used, self._used + count
        if self._used > self._arena.num_pages:  # only while samples of unknown sizes are loaded
            self.make_room(2 * self._used)
        self._arena.reserve(self._used)
        return np.arange(first, self._used, dtype=np.int64)

    def give_back(self, pages: Ids) -> None:
        self._free = np.sort(np.concatenate([self._free, pages]))

    def make_room(self, num_pages: int) -> None:
        """Before others map the same pages."""
        if num_pages > self._arena.num_pages:
            self._arena.grow(num_pages)

    def __getstate__(self) -> dict[str, Any]:
        """Another process can read."""
        return {**self.__dict__, "_free": np.empty(0, np.int64)}
