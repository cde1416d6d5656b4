"""One rank's samples, all of one size: a page for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from argosy.shuffle.holdings import Ids, Moves
from argosy.shuffle.store import Bytes
from argosy.shuffle.store.arena import Arena
from argosy.shuffle.store.pages import Pages


class Slots:
    """A `Store`. A rank never has more pages than for its own samples and those that arrive in one epoch."""

    def __init__(self, num_slots: int, *, sample_nbytes: int, folder: Path | None = None) -> None:
        self.sample_nbytes = sample_nbytes
        self._pages = Pages(2 * num_slots, sample_nbytes, folder)
        self._page_of = Arena(num_slots, 8)
        self._arrived: list[tuple[Ids, Ids]] = []

    def __len__(self) -> int:
        return self._page_of.num_pages

    @property
    def nbytes_used(self) -> int:
        """Bytes of memory or disk, for samples and for finding them."""
        return self._pages.nbytes_used + self._page_of.nbytes_used

    def rows(self, slots: Ids) -> Bytes:
        """Samples, each a row: a copy."""
        rows = np.empty((len(slots), self.sample_nbytes), np.uint8)
        return np.take(self._pages.rows, self._page_of.numbers[slots], axis=0, out=rows, mode="clip")

    def put(self, slots: Ids, rows: Bytes) -> None:
        """Samples of the present epoch, into slots that are empty."""
        self._page_of.numbers[slots] = self._written(rows)

    def sizes(self, slots: Ids) -> Ids:
        return np.full(len(slots), self.sample_nbytes, np.int64)

    def read(self, slots: Ids, sizes: Ids, into: Bytes) -> None:  # noqa: ARG002 - all have one size
        rows = into.reshape(len(slots), self.sample_nbytes)
        np.take(self._pages.rows, self._page_of.numbers[slots], axis=0, out=rows, mode="clip")

    def arrive(self, slots: Ids, sizes: Ids, packed: Bytes) -> None:  # noqa: ARG002
        self._arrived.append((slots, self._written(packed.reshape(len(slots), self.sample_nbytes))))

    def turn(self, moves: Moves) -> None:
        page_of = self._page_of.numbers
        self._pages.give_back(page_of[moves.sent])
        page_of[moves.shifted_to] = page_of[moves.shifted]
        for slots, pages in self._arrived:
            page_of[slots] = pages
        self._arrived.clear()

    def _written(self, rows: Bytes) -> Ids:
        pages = self._pages.take(len(rows))
        self._pages.rows[pages] = rows
        return pages

    def __getstate__(self) -> dict[str, Any]:
        """Another process can read."""
        return {**self.__dict__, "_arrived": []}
