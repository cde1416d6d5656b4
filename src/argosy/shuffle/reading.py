"""What one rank has read of the present epoch, and what it reads next."""

from __future__ import annotations

from dataclasses import replace

from argosy.errors import BadState
from argosy.shuffle.cut import Cut
from argosy.shuffle.holdings import Holdings
from argosy.shuffle.lines import Line
from argosy.shuffle.place import Place
from argosy.shuffle.steps import EpochSteps, exchanged_epoch


class Reading:
    """A pass over an epoch: sample by sample, in steps, or by somebody else who only took the order."""

    def __init__(self, holdings: Holdings, rank: int) -> None:
        self.holdings = holdings
        self.rank = rank
        self.place = Place()
        self.begun = False
        self.done = False
        """Whether it came to its end."""
        self._read: int | None = 0
        """Samples, or steps; None where others read, and do not say how far they are."""
        self._steps: EpochSteps | None = None

    def open(self, place: Place | None = None) -> None:
        """A new pass, over the same epoch from where it was begun, or from another place."""
        self.place = place or self.place
        self.begun = self.done = False
        self._read = 0
        self._steps = None

    def begin_samples(self) -> Line:
        self.begun = True
        return self.line()

    def begin_steps(self, batch_size: int) -> EpochSteps:
        self.begun = True
        self._steps = self.steps(batch_size)
        self._read = self._steps.start
        return self._steps

    def is_read_elsewhere(self) -> None:
        """By others, who do not say how far they are."""
        self._read = None

    def has_read(self, count: int) -> None:
        """Samples of this pass, or steps of the epoch, are out of our hands."""
        self._read = count

    def line(self) -> Line:
        """What this rank reads in this epoch, in reading order, as far as it was not read before this pass."""
        return self.place.line(self._cut(), self.rank, self.holdings.seed)

    def steps(self, batch_size: int) -> EpochSteps:
        """The same in batches: equally many on all ranks."""
        cut, num_ranks = self._cut(), len(self.holdings.sizes)
        return exchanged_epoch(
            cut.sizes,
            fraction=self.holdings.fraction,
            deal=self.holdings.deal,
            batch=batch_size * num_ranks,
            ranks=num_ranks,
            rank=self.rank,
            workers=num_ranks,
            seed=self.holdings.seed,
            epoch=self.place.epoch,
            taken=self.place.taken,
        )

    def now(self, read: int | None = None) -> Place:
        """Where a later run has to go on; `read` is how many samples of this pass were read, where we do not know."""
        if read is not None:
            length = len(self.line().ids)
            if not 0 <= read <= length:
                raise BadState(f"this rank cannot have read {read} samples of the {length} that it has in this epoch")
            return self.place.after(self._cut(), self.rank, read, self.holdings.seed)
        if self.done:
            return Place(epoch=self.place.epoch + 1)
        if self._read is None:
            raise BadState(
                "samples are read by others, and it is not known here how many were learned from; say so: "
                "state_dict(read=...), or read them by loader(batch_size)"
            )
        if self._steps is not None:
            return replace(self.place, taken=self._steps.taken(self._read))
        return self.place.after(self._cut(), self.rank, self._read, self.holdings.seed)

    def _cut(self) -> Cut:
        """One line for each rank."""
        held = self.holdings
        num_ranks = len(held.sizes)
        sizes = (held.num_samples,) if held.deal else held.sizes
        return Cut(sharded=not held.deal, sizes=sizes, batch=num_ranks, workers=num_ranks, fraction=held.fraction)
