"""One way to cut an epoch into steps: what must be known of it to go on with the epoch later, on other ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Cut:
    """One way to cut an epoch, or what was left of it, and how many of its steps are done. Goes into a checkpoint."""

    sharded: bool
    sizes: tuple[int, ...]
    """Rows of each rank; of samples that every rank can read one number."""
    batch: int
    workers: int
    fraction: float | None = None
    """The share of the samples that workers exchange before each epoch; None where there is no exchange."""
    steps: int = 0
    read: tuple[int, ...] | None = None
    """Samples read of each line, where these were not read in steps."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "sharded": self.sharded,
            "sizes": list(self.sizes),
            "batch": self.batch,
            "workers": self.workers,
            "fraction": self.fraction,
            "steps": self.steps,
            **({} if self.read is None else {"read": list(self.read)}),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Cut:
        lists = {name: tuple(record[name]) for name in ("sizes", "read") if name in record}
        return cls(**{**record, **lists})

    @property
    def is_begun(self) -> bool:
        return self.steps > 0 or (self.read is not None and any(self.read))

    def read_of(self, lengths: Sequence[int]) -> list[int]:
        """How much of each line is done, if so much of it was left before."""
        if self.read is not None:
            return list(self.read)
        return [even.at(self.steps) for even in evenly(lengths, self.num_steps(lengths))]

    def has_lines_of(self, other: Cut) -> bool:
        """Whether the same samples are read in the same lines, however many workers share a line."""
        alike = (self.sharded, self.sizes, self.fraction) == (other.sharded, other.sizes, other.fraction)
        return alike and self.read is None and (self.fraction is None or self.workers == other.workers)

    def num_steps(self, lengths: Sequence[int]) -> int:
        """Of lines with so many samples left, each of which is read by as many workers."""
        asked = -(-sum(lengths) // self.batch)
        return min(asked, min(lengths) * len(lengths) // self.workers)


@dataclass(frozen=True, slots=True)
class Even:
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


def evenly(lengths: Sequence[int], num_steps: int) -> list[Even]:
    """Each line's longer pieces begin where those of the line before end, so that steps of all lines together differ by
    at most 1 as well."""
    extra = [length % num_steps if num_steps else 0 for length in lengths]
    return [Even(length, num_steps, first) for length, first in zip(lengths, [0, *accumulate(extra)], strict=False)]
