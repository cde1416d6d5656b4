"""How an epoch is cut into steps: which rank learns from which samples, when. Every sample exactly once.

An epoch of N samples with a batch of B for all workers has `ceil(N / B)` steps whose sizes differ by at most 1, so that
there is no small last batch. (It has fewer, down to half as many, where a worker would be left without a sample in some
of them: 9 samples in batches of 5 for 5 workers are one step.) Samples that every rank can read (*replicated*) are cut
as one line, and each step's piece is divided among the workers. Where each rank has rows of its own (*sharded*), every
rank's line is cut into the same number of steps, and the pieces that are longer by 1 are spread so that the steps of
all ranks together differ by at most 1 as well.

When the number of ranks changes in the middle of an epoch, what is left of it is cut anew. Rows of shards are known by
their place in the concatenation of all shards, in order of rank, which must not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy.errors import BadBatch, BadData, RanksDisagree
from argosy.shuffle.order import global_order, local_order

Ids = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Cut:
    """One way to cut an epoch, or what was left of it, and how many of its steps are done. Goes into a checkpoint."""

    sharded: bool
    sizes: tuple[int, ...]
    """Rows of each rank; of replicated samples one number."""
    batch: int
    workers: int
    steps: int = 0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "sharded": self.sharded,
            "sizes": list(self.sizes),
            "batch": self.batch,
            "workers": self.workers,
            "steps": self.steps,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Cut:
        return cls(**{**record, "sizes": tuple(record["sizes"])})

    def num_steps(self, lengths: list[int]) -> int:
        """Of lines with so many samples left: one for each rank, or one that all ranks share."""
        asked = -(-sum(lengths) // self.batch)
        return min(asked, min(lengths) * len(lengths) // self.workers)


@dataclass(frozen=True, slots=True)
class _Even:
    """`length` samples in `num_steps` pieces; those that are longer by 1 follow one another from `first`, in a ring."""

    length: int
    num_steps: int
    first: int = 0

    def at(self, step: int) -> int:
        """Where this step's piece begins."""
        if self.num_steps == 0:
            return 0
        size, longer = divmod(self.length, self.num_steps)
        first = self.first % self.num_steps
        beyond = max(0, first + longer - self.num_steps)
        before = min(step, beyond) + max(0, min(step, first + longer - beyond) - first)
        return step * size + before


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class EpochSteps:
    """One rank's part of an epoch."""

    num_steps: int
    start: int
    """The first step that is not done yet; 0 unless the epoch goes on where an earlier run stopped."""
    cuts: tuple[Cut, ...]
    line: Ids
    own: _Even
    everyone: _Even
    parts: int
    """Workers among which a piece of the line is divided."""
    mine: range
    """Those of them that are on this rank."""

    @property
    def most_rows(self) -> int:
        """No step has more rows on this rank."""
        longest = -(-self.own.length // self.num_steps) if self.num_steps else 0
        return -(-longest * len(self.mine) // self.parts)

    def ids(self, step: int) -> Ids:
        """Numbers of this rank's rows for one step: a view, not to be written to."""
        begin, cuts = self._inside(step)
        return self.line[begin + cuts[0] : begin + cuts[-1]]

    def ids_of(self, steps: range) -> Ids:
        """Those for several steps that follow one another, in one array."""
        if len(self.mine) == self.parts:
            return self.line[self.own.at(steps.start) : self.own.at(steps.stop)]
        return np.concatenate([self.ids(step) for step in steps])

    def bounds(self, step: int) -> tuple[int, ...]:
        """Rows `bounds[i]:bounds[i + 1]` of that batch are for this rank's i-th worker."""
        cuts = self._inside(step)[1]
        return tuple([cut - cuts[0] for cut in cuts]) if cuts[0] else cuts

    def num_global(self, step: int) -> int:
        """Samples of this step on all ranks together."""
        return self.everyone.at(step + 1) - self.everyone.at(step)

    def taken(self, steps: int) -> tuple[Cut, ...]:
        """What a later run must know to go on after `steps` of these steps; give it to the factory as `taken`."""
        return (*self.cuts[:-1], replace(self.cuts[-1], steps=steps))

    def _inside(self, step: int) -> tuple[int, tuple[int, ...]]:
        if not 0 <= step < self.num_steps:
            raise IndexError(f"step {step} of an epoch with {self.num_steps} steps")
        begin = self.own.at(step)
        size = self.own.at(step + 1) - begin
        return begin, _cuts(size, self.parts, self.mine.start, self.mine.stop)


@lru_cache(maxsize=64)
def _cuts(size: int, parts: int, first: int, last: int) -> tuple[int, ...]:
    """Where the parts from `first` to `last` of so many samples begin and end. A piece has one of two sizes."""
    return tuple(size * k // parts for k in range(first, last + 1))


def replicated_epoch(
    num_samples: int,
    *,
    batch: int,
    ranks: int,
    rank: int,
    workers: int,
    seed: int,
    epoch: int,
    shuffle: bool = True,
    taken: Iterable[Cut] = (),
) -> EpochSteps:
    """Samples that every rank can read, in one order for all."""
    now = Cut(sharded=False, sizes=(num_samples,), batch=batch, workers=workers)
    before = _checked(taken, now)
    each = _workers_per_rank(workers, ranks)
    if not before and batch > num_samples:
        raise BadBatch(f"a batch of {batch} is larger than the data ({num_samples} samples); take a smaller batch")

    begin = done = 0
    for cut in before:
        last = begin
        begin += _Even(num_samples - begin, cut.num_steps([num_samples - begin])).at(cut.steps)
    if before and _same_steps(before[-1], now, [num_samples - last]):
        begin, done = last, before.pop().steps
    left = num_samples - begin
    num_steps = now.num_steps([left])
    _check_enough(now, [left], resumed=bool(before))
    order = global_order(num_samples, seed=seed, epoch=epoch) if shuffle else np.arange(num_samples, dtype=np.int64)
    even = _Even(left, num_steps)
    return EpochSteps(
        num_steps=num_steps,
        start=done,
        cuts=(*before, replace(now, steps=done)),
        line=order[begin:],
        own=even,
        everyone=even,
        parts=workers,
        mine=range(rank * each, (rank + 1) * each),
    )


def sharded_epoch(
    sizes: tuple[int, ...],
    *,
    batch: int,
    rank: int,
    workers: int,
    seed: int,
    epoch: int,
    shuffle: bool = True,
    taken: Iterable[Cut] = (),
) -> EpochSteps:
    """Rows that lie on the ranks, `sizes[r]` of them on rank r; each rank reads its own, in an order of its own."""
    now = Cut(sharded=True, sizes=tuple(sizes), batch=batch, workers=workers)
    before = _checked(taken, now)
    each = _workers_per_rank(workers, len(sizes))
    if not before:
        _check_shards(now)

    done = before.pop().steps if before and replace(before[-1], steps=0) == now else 0
    left = _left(before, sum(sizes), seed, epoch, shuffle)
    lengths = _lengths(now, left)
    num_steps = now.num_steps(lengths)
    _check_enough(now, lengths, resumed=bool(before))
    return EpochSteps(
        num_steps=num_steps,
        start=done,
        cuts=(*before, replace(now, steps=done)),
        line=_line(now, rank, left, seed, epoch, shuffle),
        own=_pieces(lengths, num_steps)[rank],
        everyone=_Even(sum(lengths), num_steps),
        parts=each,
        mine=range(each),
    )


def _same_steps(cut: Cut, now: Cut, lengths: list[int]) -> bool:
    """Whether a cut of these samples can be gone on with, whoever its workers are, instead of cutting the rest anew."""
    return cut.batch == now.batch and cut.num_steps(lengths) == now.num_steps(lengths)


def _workers_per_rank(workers: int, ranks: int) -> int:
    if workers < 1 or workers % ranks:
        raise BadBatch(f"{workers} workers do not divide evenly over {ranks} ranks; take a multiple of {ranks}")
    return workers // ranks


def _checked(taken: Iterable[Cut], now: Cut) -> list[Cut]:
    """The cuts of which something is done, of the same samples."""
    if now.batch < 1:
        raise BadBatch(f"a batch of {now.batch} samples; take at least 1")
    if now.batch < now.workers:
        raise BadBatch(
            f"a batch of {now.batch} leaves some of {now.workers} workers without a sample; "
            f"take a batch of at least {now.workers}, or fewer workers"
        )
    if sum(now.sizes) == 0:
        raise BadData("there are no samples: every rank has 0 rows")
    cuts = [cut for cut in taken if cut.steps]
    for cut in cuts:
        if cut.sharded != now.sharded:
            kinds = ["rows of each rank", "samples that all ranks read"]
            was, is_now = kinds if cut.sharded else reversed(kinds)
            raise BadData(f"the epoch was begun with {was}, and is now to go on with {is_now}; give the same data")
        if sum(cut.sizes) != sum(now.sizes):
            raise RanksDisagree(
                f"the epoch was begun with {sum(cut.sizes)} samples on all ranks together, and now there are "
                f"{sum(now.sizes)}; give the same data, or start the epoch anew"
            )
    return cuts


def _check_shards(now: Cut) -> None:
    share = now.batch // len(now.sizes)
    for rank, size in enumerate(now.sizes):
        if share > size:
            raise BadBatch(
                f"a batch of {share} is larger than the shard of rank {rank} ({size} rows); "
                "take a smaller batch, fewer ranks, or spread the rows evenly: frame.repartition()"
            )


def _check_enough(now: Cut, lengths: list[int], *, resumed: bool) -> None:
    """Each worker has a sample in each step, in steps that are not much larger than asked for."""
    asked = -(-sum(lengths) // now.batch)
    if 2 * now.num_steps(lengths) >= asked:
        return
    rank = min(range(len(lengths)), key=lengths.__getitem__)
    who = f"rank {rank} has {lengths[rank]} rows" if now.sharded else f"there are {lengths[rank]} samples"
    advice = "take a larger batch or fewer workers"
    if resumed:
        advice = "go on with as many ranks as before, or with fewer workers"
    elif now.sharded:
        advice += ", or spread the rows evenly: frame.repartition()"
    raise BadBatch(
        f"{who}{' left in this epoch' if resumed else ''}, which leaves some of {now.workers // len(lengths)} workers "
        f"without a sample in some of {asked} steps; {advice}"
    )


def _left(cuts: list[Cut], total: int, seed: int, epoch: int, shuffle: bool) -> NDArray[np.bool_] | None:
    """Which places no cut has taken, or None for all. One byte for each row of all ranks, and time for all orders."""
    if not cuts:
        return None
    left = np.ones(total, np.bool_)
    for cut in cuts:
        lengths = _lengths(cut, left)
        pieces = _pieces(lengths, cut.num_steps(lengths))
        starts = _starts(cut.sizes)
        taken = [
            starts[rank] + _line(cut, rank, left, seed, epoch, shuffle)[: piece.at(cut.steps)]
            for rank, piece in enumerate(pieces)
        ]
        left[np.concatenate(taken)] = False
    return left


def _lengths(cut: Cut, left: NDArray[np.bool_] | None) -> list[int]:
    """Rows that each rank has still to read."""
    if left is None:
        return list(cut.sizes)
    starts = _starts(cut.sizes)
    return [int(np.count_nonzero(left[at : at + size])) for at, size in zip(starts, cut.sizes, strict=False)]


def _line(cut: Cut, rank: int, left: NDArray[np.bool_] | None, seed: int, epoch: int, shuffle: bool) -> Ids:
    """This rank's rows that are left, in its order."""
    size = cut.sizes[rank]
    order = local_order(size, rank=rank, seed=seed, epoch=epoch) if shuffle else np.arange(size, dtype=np.int64)
    return order if left is None else order[left[_starts(cut.sizes)[rank] + order]]


def _pieces(lengths: list[int], num_steps: int) -> list[_Even]:
    """Each rank's longer pieces begin where those of the rank before end."""
    extra = [length % num_steps if num_steps else 0 for length in lengths]
    return [_Even(length, num_steps, first) for length, first in zip(lengths, _starts(extra), strict=False)]


def _starts(sizes: Iterable[int]) -> list[int]:
    return [0, *accumulate(sizes)]
