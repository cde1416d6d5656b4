"""How an epoch is cut into steps: which rank learns from which samples, when. Every sample exactly once.

An epoch of N samples with a batch of B for all workers has `ceil(N / B)` steps whose sizes differ by at most 1, so that
there is no small last batch. (It has fewer, down to half as many, where a worker would be left without a sample in some
of them: 9 samples in batches of 5 for 5 workers are one step.) What is read, in which order, are *lines*; each is cut
into the same number of steps, and the pieces that are longer by 1 are spread so that the steps of all lines together
differ by at most 1 as well.

When the number of ranks changes in the middle of an epoch, what is left of it is cut anew. Rows of shards are known by
their place in the concatenation of all shards, in order of rank, which must not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from argosy.errors import BadBatch, BadData, RanksDisagree
from argosy.shuffle.cut import Cut, Even, evenly
from argosy.shuffle.fraction import checked_fraction
from argosy.shuffle.holdings import Ids
from argosy.shuffle.lines import Left, Line, Lines


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class EpochSteps:
    """One rank's part of an epoch."""

    num_steps: int
    start: int
    """The first step that is not done yet; 0 unless the epoch goes on where an earlier run stopped."""
    cuts: tuple[Cut, ...]
    lines: tuple[Line, ...]
    """Those of which this rank reads something, as far as they were left to read."""
    pieces: tuple[Even, ...]
    """How each of them is cut into steps."""
    everyone: Even
    parts: int
    """Workers among which each piece of a line is divided."""
    mine: range
    """Those of them that are on this rank."""

    @property
    def num_workers(self) -> int:
        """On this rank."""
        return len(self.lines) * len(self.mine)

    @property
    def most_rows(self) -> int:
        """No step has more rows on this rank."""
        longest = [-(-even.length // max(1, self.num_steps)) for even in self.pieces]
        return sum(-(-length * len(self.mine) // self.parts) for length in longest)

    def ids(self, step: int) -> Ids:
        """Numbers of this rank's samples for one step, or its rows where they stay on it. Not to be written to."""
        return self._taken_from([line.ids for line in self.lines], step)

    def slots(self, step: int) -> Ids:
        """Where this rank finds the samples of one step, if it keeps what it holds in slots, from 0 on."""
        return self._taken_from([line.slots for line in self.lines], step)

    def ids_of(self, steps: range) -> Ids:
        """Those for several steps that follow one another, in one array."""
        return self._all_taken_from([line.ids for line in self.lines], steps)

    def slots_of(self, steps: range) -> Ids:
        return self._all_taken_from([line.slots for line in self.lines], steps)

    def bounds(self, step: int) -> tuple[int, ...]:
        """Rows `bounds[i]:bounds[i + 1]` of that batch are for this rank's i-th worker."""
        bounds = [0]
        for even in self.pieces:
            _, cuts = self._inside(even, step)
            shift = bounds[-1] - cuts[0]
            bounds += [cut + shift for cut in cuts[1:]]
        return tuple(bounds)

    def num_global(self, step: int) -> int:
        """Samples of this step on all ranks together."""
        return self.everyone.at(step + 1) - self.everyone.at(step)

    def taken(self, steps: int) -> tuple[Cut, ...]:
        """What a later run must know to go on after `steps` of these steps; give it to the factory as `taken`."""
        return (*self.cuts[:-1], replace(self.cuts[-1], steps=steps))

    def _taken_from(self, lines: Sequence[Ids], step: int) -> Ids:
        pieces = []
        for line, even in zip(lines, self.pieces, strict=True):
            begin, cuts = self._inside(even, step)
            pieces.append(line[begin + cuts[0] : begin + cuts[-1]])
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def _all_taken_from(self, lines: Sequence[Ids], steps: range) -> Ids:
        if len(lines) == 1 and len(self.mine) == self.parts:
            return lines[0][self.pieces[0].at(steps.start) : self.pieces[0].at(steps.stop)]
        return np.concatenate([self._taken_from(lines, step) for step in steps])

    def _inside(self, even: Even, step: int) -> tuple[int, tuple[int, ...]]:
        if not 0 <= step < self.num_steps:
            raise IndexError(f"step {step} of an epoch with {self.num_steps} steps")
        begin = even.at(step)
        size = even.at(step + 1) - begin
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
    each = _workers_per_rank(workers, ranks)
    mine = range(rank * each, (rank + 1) * each)
    return _epoch(now, taken, range(1), mine, seed=seed, epoch=epoch, shuffle=shuffle)


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
    each = _workers_per_rank(workers, len(sizes))
    return _epoch(now, taken, range(rank, rank + 1), range(each), seed=seed, epoch=epoch, shuffle=shuffle)


def exchanged_epoch(
    sizes: int | Sequence[int],
    *,
    fraction: float,
    deal: bool,
    batch: int,
    ranks: int,
    rank: int,
    workers: int,
    seed: int,
    epoch: int,
    taken: Iterable[Cut] = (),
) -> EpochSteps:
    """Samples of which workers exchange a share before each epoch; each worker reads those that it holds.

    `sizes` are the rows of each rank, split evenly among its workers at the start and numbered by their place in the
    concatenation; or, with `deal`, a number of samples that all ranks can read, dealt to the workers at random.
    """
    given = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    now = Cut(sharded=not deal, sizes=given, batch=batch, workers=workers, fraction=checked_fraction(fraction))
    each = _workers_per_rank(workers, ranks)
    return _epoch(now, taken, range(rank * each, (rank + 1) * each), range(1), seed=seed, epoch=epoch)


def _epoch(
    now: Cut, taken: Iterable[Cut], which: range, mine: range, *, seed: int, epoch: int, shuffle: bool = True
) -> EpochSteps:
    """`which` are the lines of this rank, `mine` its workers among those that share a line."""
    before = _checked(taken, now)
    if not before:
        _check_batch(now)

    def lines_of(cut: Cut) -> Lines:
        return Lines(cut, seed=seed, epoch=epoch, shuffle=shuffle)

    left: Left | None = None
    done = 0
    for number, cut in enumerate(before):
        there = lines_of(cut)
        goes_on = cut is before[-1] and cut.has_lines_of(now)
        if goes_on and _same_steps(cut, now, there.lengths(left)):
            done, before = cut.steps, before[:number]
            break
        left = there.left_after(cut, left)

    lines = lines_of(now)
    lengths = lines.lengths(left)
    _check_enough(now, lengths, resumed=bool(before))
    num_steps = now.num_steps(lengths)
    return EpochSteps(
        num_steps=num_steps,
        start=done,
        cuts=(*before, replace(now, steps=done)),
        lines=tuple(lines.these(which, left)),
        pieces=tuple(evenly(lengths, num_steps)[which.start : which.stop]),
        everyone=Even(sum(lengths), num_steps),
        parts=now.workers // len(lengths),
        mine=mine,
    )


def _same_steps(cut: Cut, now: Cut, lengths: list[int]) -> bool:
    """Whether a cut of these lines can be gone on with, whoever its workers are, instead of cutting the rest anew."""
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
    cuts = [cut for cut in taken if cut.is_begun]
    for cut in cuts:
        if cut.sharded != now.sharded:
            kinds = ["rows of each rank", "samples that all ranks read"]
            was, is_now = kinds if cut.sharded else reversed(kinds)
            raise BadData(f"the epoch was begun with {was}, and is now to go on with {is_now}; give the same data")
        if (cut.fraction is None) != (now.fraction is None):
            ways = ["an exchange of samples", "none"]
            was, is_now = reversed(ways) if cut.fraction is None else ways
            raise BadData(f"the epoch was begun with {was}, and is now to go on with {is_now}; shuffle in the same way")
        if sum(cut.sizes) != sum(now.sizes):
            raise RanksDisagree(
                f"the epoch was begun with {sum(cut.sizes)} samples on all ranks together, and now there are "
                f"{sum(now.sizes)}; give the same data, or start the epoch anew"
            )
    return cuts


def _check_batch(now: Cut) -> None:
    if not now.sharded and now.batch > now.sizes[0]:
        raise BadBatch(f"a batch of {now.batch} is larger than the data ({now.sizes[0]} samples); take a smaller batch")
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
    advice = "take a larger batch or fewer workers"
    if resumed:
        advice = "go on with as many ranks as before, or with fewer workers"
    elif now.sharded:
        advice += ", or spread the rows evenly: frame.repartition()"
    least = min(range(len(lengths)), key=lengths.__getitem__)
    has = f"has {lengths[least]} {'rows' if now.sharded else 'samples'}{' left in this epoch' if resumed else ''}"
    if now.fraction is not None:
        raise BadBatch(f"worker {least} {has}, which leaves it without one in some of {asked} steps; {advice}")
    who = f"rank {least} {has}" if now.sharded else f"there are {has.removeprefix('has ')}"
    raise BadBatch(
        f"{who}, which leaves some of {now.workers // len(lengths)} workers without a sample in some of {asked} steps; "
        f"{advice}"
    )
