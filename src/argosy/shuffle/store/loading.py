"""A rank's samples come once from where they were given, and lie in slots from then on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from argosy.comm.attempt import Together, attempt
from argosy.shuffle.holdings import Ids
from argosy.shuffle.seal import Seal
from argosy.shuffle.store import Bytes
from argosy.shuffle.store.chains import Chains
from argosy.shuffle.store.packing import Layout, layout_of, pickled
from argosy.shuffle.store.shard import Shard
from argosy.shuffle.store.slots import Slots
from argosy.shuffle.store.sources import Columns, Source

_PROBES = 8
"""Samples that are looked at before all are read, to see whether they have one form."""
_PAGES_PER_SAMPLE = 64
"""Of samples that differ in size: so little of the last page is wasted."""
_PAGE_NBYTES = 128, 1 << 16
_BLOCK_NBYTES = 4 << 20


def loaded(
    source: Source,
    numbers: Ids,
    *,
    ranks: Together,
    seal: Seal,
    transform: Callable[[Any], Any] | None,
    folder: Path | None,
    readers: int,
) -> Shard:
    """`numbers[slot]` is the number of the sample in that slot. A collective: whether all samples of all ranks have one
    form is for all ranks to say, and what fails on one rank fails on all."""
    loading = _Loading(source, numbers, folder, readers, seal)
    forms = attempt(ranks, loading.forms).settled()
    alike = {form for some in forms for form in some}
    layout = alike.pop() if len(alike) == 1 else None
    if layout is not None and all(attempt(ranks, lambda: loading.in_layout(layout)).settled()):
        return Shard(loading.slots, layout, transform, seal)
    everything = attempt(ranks, loading.by_pickle).settled()
    loading.chains.make_room(*map(sum, zip(*everything, strict=True)))
    return Shard(loading.chains, None, transform, seal)


class _Loading:
    slots: Slots
    chains: Chains

    def __init__(self, source: Source, numbers: Ids, folder: Path | None, readers: int, seal: Seal) -> None:
        self._seal = seal
        self._source = source
        self._numbers = numbers
        self._folder = folder
        self._readers = readers

    def forms(self) -> set[Layout | None]:
        """Of some samples; None for those that have no layout. The types in them are known to other ranks too."""
        found = {layout_of(sample) for sample in self._some()}
        for layout in found - {None}:
            pickled(layout, "the form of a sample", self._seal)
        return found

    def in_layout(self, layout: Layout) -> bool:
        """False where a sample has another form."""
        slots = Slots(len(self._numbers), sample_nbytes=layout.nbytes, folder=self._folder)
        begin = 0
        for rows in self._rows(layout):
            if rows is None:
                return False
            slots.put(np.arange(begin, begin + len(rows)), rows)
            begin += len(rows)
        self.slots = slots
        return True

    def _rows(self, layout: Layout) -> Iterator[Bytes | None]:
        if isinstance(self._source, Columns):
            at_once = max(1, _BLOCK_NBYTES // layout.nbytes)
            for begin in range(0, len(self._numbers), at_once):
                yield layout.pack_rows(self._source.columns, self._numbers[begin : begin + at_once])
            return
        for some in self._source.samples(self._numbers.tolist(), self._readers):
            rows = np.zeros((len(some), layout.nbytes), np.uint8)
            yield rows if all(map(layout.pack, some, rows)) else None

    def by_pickle(self) -> tuple[int, int]:
        """Bytes and number of all samples."""
        sizes = [len(pickled(sample, "a sample", self._seal)) for sample in self._some()]
        wanted = int(np.clip(sum(sizes) // max(len(sizes), 1) // _PAGES_PER_SAMPLE, *_PAGE_NBYTES))
        self.chains = Chains(len(self._numbers), page_nbytes=wanted // 8 * 8, folder=self._folder)
        total = begin = 0
        for some in self._source.samples(self._numbers.tolist(), self._readers):
            packed = [
                pickled(sample, f"sample {self._numbers[begin + k]}", self._seal) for k, sample in enumerate(some)
            ]
            nbytes = np.array([len(one) for one in packed], np.int64)
            self.chains.put(np.arange(begin, begin + len(some)), nbytes, np.frombuffer(b"".join(packed), np.uint8))
            total += int(nbytes.sum())
            begin += len(some)
        return total, begin

    def _some(self) -> list[Any]:
        """Here and there."""
        apart = max(1, len(self._numbers) // _PROBES)
        few = self._numbers[::apart].tolist()
        return [sample for some in self._source.samples(few, 0) for sample in some]
