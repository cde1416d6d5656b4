"""One rank's samples, of different sizes: each a chain of runs of small pages.

The first page of a sample begins with its runs, where each begins and how many pages it has; then come its bytes.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from argosy.shuffle.holdings import Ids, Moves
from argosy.shuffle.store import Bytes
from argosy.shuffle.store.arena import Arena
from argosy.shuffle.store.pages import Pages

_WORD = 8
"""Bytes of a number: how many runs there are, and two for each of them."""


class Chains:
    """A `Store`. What a sample leaves of its last page is lost, and nothing else."""

    sample_nbytes = None

    def __init__(self, num_slots: int, *, page_nbytes: int, folder: Path | None = None) -> None:
        """`page_nbytes`: a multiple of 8, and room for a few runs."""
        self._pages = Pages(0, page_nbytes, folder)
        self._first = Arena(num_slots, 8)
        self._nbytes = Arena(num_slots, 8)
        self._arrived: list[tuple[Ids, Ids, Ids]] = []

    def __len__(self) -> int:
        return self._first.num_pages

    @property
    def nbytes_used(self) -> int:
        """Bytes of memory or disk, for samples and for finding them."""
        return self._pages.nbytes_used + self._first.nbytes_used + self._nbytes.nbytes_used

    def make_room(self, nbytes: int, num_samples: int) -> None:
        """For so many samples with so many bytes together, before others map the same memory."""
        room = nbytes + num_samples * (self._pages.page_nbytes + _table_nbytes(1))
        self._pages.make_room(-(-room // self._pages.page_nbytes) + num_samples)

    def packed(self, slot: int) -> Bytes:
        """One sample: a copy."""
        pages, table_nbytes = self._chain(slot)
        whole = self._pages.rows[pages].reshape(-1)
        return whole[table_nbytes : table_nbytes + int(self._nbytes.numbers[slot])]

    def put(self, slots: Ids, sizes: Ids, packed: Bytes) -> None:
        """Samples of the present epoch, into slots that are empty."""
        self._first.numbers[slots] = self._written(sizes, packed)
        self._nbytes.numbers[slots] = sizes

    def sizes(self, slots: Ids) -> Ids:
        sizes: Ids = self._nbytes.numbers[slots]
        return sizes

    def read(self, slots: Ids, sizes: Ids, into: Bytes) -> None:
        ends = np.cumsum(sizes)
        for slot, begin, end in zip(slots.tolist(), (ends - sizes).tolist(), ends.tolist(), strict=True):
            into[begin:end] = self.packed(slot)

    def arrive(self, slots: Ids, sizes: Ids, packed: Bytes) -> None:
        self._arrived.append((slots, sizes, self._written(sizes, packed)))

    def turn(self, moves: Moves) -> None:
        if len(moves.sent):
            self._pages.give_back(np.concatenate([self._chain(slot)[0] for slot in moves.sent.tolist()]))
        for index in (self._first.numbers, self._nbytes.numbers):
            index[moves.shifted_to] = index[moves.shifted]
        for slots, sizes, pages in self._arrived:
            self._first.numbers[slots], self._nbytes.numbers[slots] = pages, sizes
        self._arrived.clear()

    def _chain(self, slot: int) -> tuple[Ids, int]:
        """The pages of a sample, and how many bytes of them say so."""
        head = self._pages.rows[self._first.numbers[slot]].view(np.int64)
        num_runs = int(head[0])
        begins, counts = head[1 : 1 + num_runs].tolist(), head[1 + num_runs : 1 + 2 * num_runs].tolist()
        runs = [np.arange(begin, begin + count) for begin, count in zip(begins, counts, strict=True)]
        return (runs[0] if num_runs == 1 else np.concatenate(runs)), _table_nbytes(num_runs)

    def _written(self, sizes: Ids, packed: Bytes) -> Ids:
        """The first page of each of these samples."""
        ends = np.cumsum(sizes).tolist()
        return np.array([self._write_one(packed[begin:end]) for begin, end in pairwise([0, *ends])], np.int64)

    def _write_one(self, packed: Bytes) -> int:
        pages, table = self._room_for(len(packed))
        page_nbytes = self._pages.page_nbytes
        rows = np.zeros((len(pages), page_nbytes), np.uint8)
        flat = rows.reshape(-1)
        flat[: table.nbytes] = table.view(np.uint8)
        flat[table.nbytes : table.nbytes + len(packed)] = packed
        self._pages.rows[pages] = rows
        return int(pages[0])

    def _room_for(self, nbytes: int) -> tuple[Ids, Ids]:
        """Pages, with the table of their runs, which must fit into the first."""
        count = self._count(nbytes, 1)
        while count <= self._pages.num_free:
            runs = _runs(self._pages.first_free(count))
            if _table_nbytes(len(runs)) > self._pages.page_nbytes:
                break
            needed = self._count(nbytes, len(runs))
            if needed == count:
                return self._pages.take(count), _table(runs)
            count = needed
        pages = self._pages.take_fresh(self._count(nbytes, 1))
        return pages, _table(_runs(pages))

    def _count(self, nbytes: int, num_runs: int) -> int:
        return -(-(nbytes + _table_nbytes(num_runs)) // self._pages.page_nbytes)

    def __getstate__(self) -> dict[str, Any]:
        """Another process can read."""
        return {**self.__dict__, "_arrived": []}


def _table_nbytes(num_runs: int) -> int:
    return _WORD * (1 + 2 * num_runs)


def _runs(pages: Ids) -> list[tuple[int, int]]:
    """Begin and length of each run of pages that follow one another."""
    cuts = (np.flatnonzero(np.diff(pages) != 1) + 1).tolist()
    bounds = [0, *cuts, len(pages)]
    return [(int(pages[begin]), end - begin) for begin, end in pairwise(bounds)]


def _table(runs: list[tuple[int, int]]) -> Ids:
    begins, counts = zip(*runs, strict=True)
    return np.array([len(runs), *begins, *counts], np.int64)
