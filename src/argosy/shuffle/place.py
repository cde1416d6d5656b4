"""Where in the samples a reader is, as a state that a later run goes on from, on as many ranks or on others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from argosy.errors import BadState
from argosy.shuffle.cut import Cut
from argosy.shuffle.holdings import Holdings
from argosy.shuffle.lines import Left, Line, Lines

_VERSION = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """An epoch, and what was read of it before: by earlier runs, each on ranks of its own."""

    epoch: int = 0
    taken: tuple[Cut, ...] = ()

    def state(self, holdings: Holdings) -> dict[str, Any]:
        """Plain values, the same on all ranks: for JSON, or for torch.save."""
        return {
            "version": _VERSION,
            "num_samples": holdings.num_samples,
            "seed": holdings.seed,
            "epoch": self.epoch,
            "taken": [cut.as_dict() for cut in self.taken],
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], holdings: Holdings) -> Place:
        try:
            version, num_samples, seed, epoch = (state[name] for name in ("version", "num_samples", "seed", "epoch"))
            taken = tuple(Cut.from_dict(record) for record in state["taken"])
        except (KeyError, TypeError, ValueError) as error:
            raise BadState(f"this is no state of a PartialExchange ({type(error).__name__}: {error})") from error
        if version != _VERSION:
            raise BadState(f"the state is of version {version}, and this one reads version {_VERSION}")
        if num_samples != holdings.num_samples:
            raise BadState(
                f"the state is of {num_samples} samples, and there are {holdings.num_samples}; give the same data"
            )
        if seed != holdings.seed:
            raise BadState(
                f"the state was made with seed={seed}, and this exchange has seed={holdings.seed}, in which other "
                "samples were read; give the same seed"
            )
        return cls(epoch=epoch, taken=taken)

    def left(self, seed: int) -> Left | None:
        """What is still to be read of the epoch; None for all of it."""
        left: Left | None = None
        for cut in self.taken:
            if cut.is_begun:
                left = Lines(cut, seed=seed, epoch=self.epoch).left_after(cut, left)
        return left

    def line(self, cut: Cut, rank: int, seed: int) -> Line:
        """What is left to one rank, in reading order."""
        return Lines(cut, seed=seed, epoch=self.epoch).these(range(rank, rank + 1), self.left(seed))[0]

    def after(self, cut: Cut, rank: int, read: int, seed: int) -> Place:
        """When one rank has read so much of its line. The others have read as many, as far as they had; and where lines
        are of equal length, or one sample apart, they end together."""
        lengths = Lines(cut, seed=seed, epoch=self.epoch).lengths(self.left(seed))
        at_the_end = 0 < read == lengths[rank] and max(lengths) - min(lengths) <= 1
        everyone = lengths if at_the_end else [min(read, length) for length in lengths]
        counted = Cut(
            sharded=cut.sharded,
            sizes=cut.sizes,
            batch=cut.batch,
            workers=cut.workers,
            fraction=cut.fraction,
            read=tuple(everyone),
        )
        return Place(epoch=self.epoch, taken=(*self.taken, counted))
