"""Who reads which samples of an epoch in which order: its lines, before they are cut into steps.

A line is read by one worker, or by several that share each of its pieces. Samples that every rank can read are one line
for all workers. Where each rank has rows of its own, there is a line for each rank, and where workers exchange a share
of their samples between epochs, one for each worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from argosy.shuffle.cut import Cut
from argosy.shuffle.holdings import Holdings, Ids, dealt, kept
from argosy.shuffle.order import global_order, local_order

Left = NDArray[np.bool_]
"""For each number of a sample whether it is still to be read."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Line:
    """Samples in the order in which they are read."""

    slots: Ids
    """Where the rank that reads them finds them, counted from its first slot or row."""
    ids: Ids
    """Their numbers; of rows that stay on their rank, its rows."""
    first: int = 0
    """The number that all ranks know a sample by is so much more than its id."""

    @property
    def numbers(self) -> Ids:
        return self.ids + self.first if self.first else self.ids

    def only(self, left: Left | None) -> Line:
        """Without those that have been read."""
        if left is None:
            return self
        stays = left[self.numbers]
        slots = self.slots[stays]
        return Line(slots=slots, ids=slots if self.ids is self.slots else self.ids[stays], first=self.first)


class Lines:
    """All lines of a cut in one epoch, each of the whole epoch."""

    def __init__(self, cut: Cut, *, seed: int, epoch: int, shuffle: bool = True) -> None:
        self._seed = seed
        self._epoch = epoch
        self._shuffle = shuffle
        self._one_for_all = not cut.sharded and cut.fraction is None
        self._holdings = None
        if cut.fraction is not None:
            self._holdings = holdings_of(
                cut.sizes, fraction=cut.fraction, deal=not cut.sharded, workers=cut.workers, seed=seed
            )
        self.sizes: tuple[int, ...] = cut.sizes if self._holdings is None else self._holdings.sizes
        self._starts = np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)]).tolist()

    def lengths(self, left: Left | None) -> list[int]:
        """Samples of each line that are still to be read."""
        if left is None:
            return list(self.sizes)
        if self._holdings is not None:
            left = left[self._holdings.held(range(self._starts[-1]), self._epoch)]
        return [int(np.count_nonzero(left[begin:end])) for begin, end in pairwise(self._starts)]

    def these(self, which: range, left: Left | None = None) -> list[Line]:
        """Some that follow one another, as far as they are left. Slots are counted from the first line's first."""
        if self._holdings is None:
            return [self._plain(line).only(left) for line in which]
        begin, end = self._starts[which.start], self._starts[which.stop]
        held = self._holdings.held(range(begin, end), self._epoch)
        lines = []
        for worker in which:
            order = local_order(self.sizes[worker], rank=worker, seed=self._seed, epoch=self._epoch)
            ids = held[self._starts[worker] - begin :][order]
            order += self._starts[worker] - begin
            lines.append(Line(slots=order, ids=ids).only(left))
        return lines

    def left_after(self, cut: Cut, left: Left | None) -> Left:
        """What is to be read when the cut, of these lines, is done as far as it says."""
        lengths = self.lengths(left)
        lines = self.these(range(len(lengths)), left)
        after = np.ones(self._starts[-1], np.bool_) if left is None else left.copy()
        for line, read in zip(lines, cut.read_of(lengths), strict=True):
            after[line.numbers[:read]] = False
        return after

    def _plain(self, line: int) -> Line:
        size = self.sizes[line]
        if not self._shuffle:
            order = np.arange(size, dtype=np.int64)
        elif self._one_for_all:
            order = global_order(size, seed=self._seed, epoch=self._epoch)
        else:
            order = local_order(size, rank=line, seed=self._seed, epoch=self._epoch)
        return Line(slots=order, ids=order, first=self._starts[line])


def holdings_of(sizes: Sequence[int], *, fraction: float, deal: bool, workers: int, seed: int) -> Holdings:
    """Which worker holds which samples. Rows that lie on a rank are split evenly among its workers.

    `sizes` are the rows of each rank, or one number of samples that are dealt to all workers.
    """
    if deal:
        return dealt(sizes[0], workers, fraction=fraction, seed=seed)
    each = workers // len(sizes)
    parts = tuple(size * (k + 1) // each - size * k // each for size in sizes for k in range(each))
    return kept(parts, fraction=fraction, seed=seed)
