"""Who holds which sample in which epoch, in closed form: each rank works out its own part, whatever the epoch.

Samples lie in *slots*; those of rank 0 come first, then those of rank 1, and so on. There are as many *columns* as a
rank has slots in the mean: slots whose numbers differ by a multiple of the number of columns are one column, so that
it has about one slot on every rank. Before each epoch a share of the columns, the fraction, is drawn, and each of them
turns: its samples go round, all by the same number of slots, to a place drawn at random. A rank so sends as many
samples as it receives, and a sample that moves goes to any rank with the same chance, its own included. (Where ranks
do not divide the samples, a column misses some of the ranks: a share below one in the size of a shard.)

What a column looks like depends on where it was turned to last, and on nothing before: to know an epoch it is enough to
look back, for each column, to the last epoch before which it was drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import floor, gcd, isqrt
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy import arguments
from argosy.errors import TooFewSamples
from argosy.shuffle.draws import generator, scattered
from argosy.shuffle.fraction import checked_fraction

Ids = NDArray[np.int64]

_DRAWN, _TURNED, _DEALT = (2**62 + k for k in range(3))  # streams that no rank's own order has
_BLOCK = 1 << 16  # slots that are worked out at once, in cache: fresh memory is slower than all the arithmetic
_FACTOR_BITS = 31  # the product with a number of samples stays below 2**63


@dataclass(frozen=True, kw_only=True, slots=True)
class Moves:
    """What one rank does to get from one epoch to another. Slots are numbered from this rank's first.

    Samples between two ranks travel in the order in which they lie at the sender, which both know.
    """

    sent: Ids
    sent_to: Ids
    received: Ids
    received_from: Ids
    shifted: Ids
    """Slots whose sample stays on this rank,"""
    shifted_to: Ids
    """but in these."""


@dataclass(frozen=True, kw_only=True)
class Holdings:
    """`sizes[r]` samples on rank r in every epoch. Samples are numbered by slot at the start, or dealt at random."""

    sizes: tuple[int, ...]
    fraction: float
    seed: int
    deal: bool
    """Whether epoch 0 is a random partition; else each rank begins with the samples that have its slots' numbers."""

    @cached_property
    def starts(self) -> Ids:
        """The first slot of each rank, and the end."""
        return np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)]).astype(np.int64)

    @property
    def num_samples(self) -> int:
        return int(self.starts[-1])

    @property
    def num_columns(self) -> int:
        return -(-self.num_samples // len(self.sizes))

    def slots(self, rank: int) -> range:
        return range(int(self.starts[rank]), int(self.starts[rank + 1]))

    def held(self, slots: range, epoch: int) -> Ids:
        """The samples in these slots."""
        if len(self.sizes) == 1:
            return np.arange(slots.start, slots.stop, dtype=np.int64)
        past = _Past(self.seed, self.last_turns(epoch))
        samples = np.empty(len(slots), np.int64)
        for begin in range(0, len(slots), _BLOCK):
            block = slots[begin : begin + _BLOCK]
            at = np.arange(block.start, block.stop, dtype=np.int64)
            samples[begin : begin + len(block)] = self._numbers(self._origin(at, self._places(at, past)))
        return samples

    def moves(self, rank: int, before: int, after: int, *, each: int = 1) -> Moves:
        """From one epoch to another, which need not be the next. `each`: how many holders share a rank."""
        starts = self.starts[::each]
        slots = range(int(starts[rank]), int(starts[rank + 1]))
        at = np.arange(slots.start, slots.stop, dtype=np.int64)
        old, new = _Past(self.seed, self.last_turns(before)), _Past(self.seed, self.last_turns(after))
        at = at[(old.turns != new.turns)[at % self.num_columns]]
        old_place, new_place = self._places(at, old), self._places(at, new)
        leaves, arrives = self._origin(at, old_place), self._origin(at, new_place)
        goes_to, comes_from = self._turned(leaves, new_place), self._turned(arrives, old_place)
        receiver, sender = (np.searchsorted(starts, slot, side="right") - 1 for slot in (goes_to, comes_from))
        out, into, stays = receiver != rank, sender != rank, (receiver == rank) & (goes_to != at)
        going = np.flatnonzero(out)[np.argsort(receiver[out], kind="stable")]
        coming = np.flatnonzero(into)[np.argsort(comes_from[into])]
        return Moves(
            sent=at[going] - slots.start,
            sent_to=receiver[going],
            received=at[coming] - slots.start,
            received_from=sender[coming],
            shifted=at[stays] - slots.start,
            shifted_to=goes_to[stays] - slots.start,
        )

    def last_turns(self, epoch: int) -> Ids:
        """For each column the last epoch, up to this one, before which it was turned; 0 for those that never were.

        A draw is a line of columns at equal distances, in a ring: so whether a column is in it can be told without
        making it. Draws are made as long as many columns are open, and each column asked when few are.
        """
        num_columns = self.num_columns
        turns = np.zeros(num_columns, np.int64)
        if self.fraction == 0 or len(self.sizes) == 1:
            return turns
        num_open = num_columns
        while epoch > 0 and num_open:
            draw = self._draw(epoch)
            if num_open <= draw.count:
                break
            columns = draw.columns()
            found = columns[turns[columns] == 0]
            turns[found] = epoch
            num_open -= len(found)
            epoch -= 1
        still_open = np.flatnonzero(turns == 0) if num_open else np.empty(0, np.int64)
        while epoch > 0 and len(still_open):
            drawn = self._draw(epoch).has(still_open)
            turns[still_open[drawn]] = epoch
            still_open = still_open[~drawn]
            epoch -= 1
        return turns

    def _draw(self, epoch: int) -> _Draw:
        numbers = generator(self.seed, epoch, _DRAWN)
        size = self.num_columns
        count = floor(round(self.fraction * size, 6) + numbers.random())
        step = _unit(numbers, size)
        return _Draw(size=size, count=min(count, size), first=int(numbers.integers(size)), step=step)

    def _places(self, slots: Ids, past: _Past) -> Ids:
        """How far the column of each of these slots is turned from where it was numbered."""
        columns = slots % self.num_columns
        places = scattered(past.keys(columns), columns, self._lengths(columns))
        if not self.deal:
            places[past.turns[columns] == 0] = 0
        return places

    def _lengths(self, columns: Ids) -> Ids:
        """Slots of each column."""
        return (self.num_samples - 1 - columns) // self.num_columns + 1

    def _origin(self, slots: Ids, places: Ids) -> Ids:
        """Where the samples in these slots were numbered."""
        return self._round(slots, -places)

    def _turned(self, slots: Ids, places: Ids) -> Ids:
        return self._round(slots, places)

    def _round(self, slots: Ids, by: Ids) -> Ids:
        row, column = np.divmod(slots, self.num_columns)
        return (row + by) % self._lengths(column) * self.num_columns + column

    def _numbers(self, origin: Ids) -> Ids:
        """Dealing also mixes the numbers, so that other seeds have other samples in one column.

        They are mixed in a ring of prime size: in one whose size the columns divide, samples that are a multiple of the
        columns apart would be in one column, and so never on one rank, with every seed. The ring has a few places more
        than there are samples: a number that falls there is mixed again.
        """
        if not self.deal or len(self.sizes) == 1:
            return origin
        factor, offset, size = self._mix
        mixed: Ids = (origin * factor + offset) % size
        over = np.flatnonzero(mixed >= self.num_samples)
        while len(over):
            again = (mixed[over] * factor + offset) % size
            mixed[over] = again
            over = over[again >= self.num_samples]
        return mixed

    @cached_property
    def _mix(self) -> tuple[int, int, int]:
        numbers = generator(self.seed, 0, _DEALT)
        size = _prime_from(self.num_samples)
        return _unit(numbers, size), int(numbers.integers(size)), size


@dataclass(frozen=True, kw_only=True, slots=True)
class _Draw:
    """`count` of `size` columns, from `first` on, `step` apart, in a ring."""

    size: int
    count: int
    first: int
    step: int
    """Has no divisor in common with the size."""

    def columns(self) -> Ids:
        return (np.arange(self.count, dtype=np.int64) * self.step + self.first) % self.size

    def has(self, columns: Ids) -> NDArray[np.bool_]:
        back = pow(self.step, -1, self.size)
        place: Ids = (columns - self.first) % self.size * back % self.size
        return place < self.count


class _Past:
    """When each column was last turned, and the key of the place that it was turned to."""

    def __init__(self, seed: int, turns: Ids) -> None:
        self.turns = turns
        newest = int(turns.max())
        self._oldest = int(np.where(turns > 0, turns, newest).min())  # but for those that never were
        epochs = [0, *range(self._oldest, newest + 1)]
        self._keys = np.array([_key(seed, epoch) for epoch in epochs], np.uint64)

    def keys(self, columns: Ids) -> NDArray[np.uint64]:
        since = self.turns[columns]
        since -= self._oldest - 1
        return self._keys[np.maximum(since, 0, out=since)]


@lru_cache(maxsize=4096)
def _key(seed: int, epoch: int) -> int:
    return int(generator(seed, epoch, _TURNED).integers(0, 2**64, dtype=np.uint64))


def _unit(numbers: np.random.Generator, size: int) -> int:
    """A number below `size` that has no divisor in common with it."""
    while True:
        number = int(numbers.integers(1, min(size, 1 << _FACTOR_BITS) + 1))
        if gcd(number, size) == 1:
            return number


def _prime_from(number: int) -> int:
    """The smallest prime that is not below this number, which is at least 2."""
    while any(number % divisor == 0 for divisor in range(2, isqrt(number) + 1)):
        number += 1
    return number


def dealt(num_samples: int, num_ranks: int, *, fraction: float, seed: int) -> Holdings:
    """Samples that all ranks can read, dealt to them in shares that differ by at most one."""
    for name, number in (("num_samples", num_samples), ("num_ranks", num_ranks)):
        if not _whole(number) or not 1 <= number < 2**40:
            raise TooFewSamples(f"{name} must be a whole number above 0, not {arguments.show(number)}")
    if num_samples < num_ranks:
        raise TooFewSamples(
            f"{num_samples} samples for {num_ranks} ranks leave some without any; take at most {num_samples} ranks"
        )
    each, over = divmod(int(num_samples), int(num_ranks))
    sizes = tuple(each + (rank < over) for rank in range(num_ranks))
    return Holdings(sizes=sizes, fraction=checked_fraction(fraction), seed=index(seed), deal=True)


def kept(sizes: tuple[int, ...], *, fraction: float, seed: int) -> Holdings:
    """Samples that lie on their ranks already, `sizes[r]` of them on rank r; rank 0 has those numbered from 0."""
    for rank, size in enumerate(sizes):
        if not _whole(size) or size < 0:
            raise TooFewSamples(f"rank {rank} must have a whole number of samples, 0 or more, not {size!r}")
    if sum(sizes) < 1:
        raise TooFewSamples("there are no samples: every rank has 0 of them")
    return Holdings(sizes=tuple(sizes), fraction=checked_fraction(fraction), seed=index(seed), deal=False)


def _whole(number: Any) -> bool:
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)
