"""What a run costs under any placement in two tiers: the one form that every law is brought to.

Window w, with z[o] = 1 where object o is in the slow tier and 0 where it is in the fast one, takes

    t[w] = max(floor[w], base[w] + sum over o of slow[w, o] * z[o])      seconds in one whole run

and the run takes the sum over its windows. A window that is bound by computing has a floor above its base; a law
without such windows has floor = -inf. That one form is what makes a prediction a matrix product, a plan a mixed-integer
program, and the same arithmetic serve searching, learning and planning.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from argosy.memory.placement import Slow

CHUNK_ROWS = 65_536


@dataclass(frozen=True, kw_only=True, slots=True)
class Costs:
    """Of one run of one program on one machine."""

    objects: tuple[str, ...]
    sizes: tuple[int, ...]
    """Bytes of each object."""
    windows: tuple[str, ...]
    """Kinds of windows (operations), each once; `order` says when they ran."""
    order: tuple[int, ...]
    """The windows of one run in the order of time, as indices into `windows`."""
    floor: NDArray[np.float64]
    base: NDArray[np.float64]
    slow: NDArray[np.float64]
    """[windows, objects]: seconds that an object adds to all the occurrences of a window while it is slow."""
    _summed: tuple[float, NDArray[np.float64]] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        shape = (len(self.windows), len(self.objects))
        if self.slow.shape != shape or self.base.shape != shape[:1] or self.floor.shape != shape[:1]:
            raise ValueError(f"costs of {shape[0]} windows and {shape[1]} objects need arrays of that shape")
        without_floor = bool(np.all(self.floor <= self.base + np.minimum(self.slow, 0).sum(axis=1)))
        object.__setattr__(self, "_summed", (float(self.base.sum()), self.slow.sum(axis=0)) if without_floor else None)

    @property
    def nbytes(self) -> int:
        """Of all objects together."""
        return sum(self.sizes)

    def per_window(self, slow: Slow) -> NDArray[np.float64]:
        """Seconds of each window (all its occurrences) under each placement: [placements, windows]."""
        seconds: NDArray[np.float64] = np.asarray(slow, dtype=np.float64) @ self.slow.T
        seconds += self.base
        return np.maximum(seconds, self.floor, out=seconds)

    def total(self, slow: Slow) -> NDArray[np.float64]:
        """Seconds of the run under each placement. Cost: one matrix product."""
        if self._summed is not None:
            base, by_object = self._summed
            total: NDArray[np.float64] = np.asarray(slow, dtype=np.float64) @ by_object
            total += base
            return total
        if len(slow) <= CHUNK_ROWS:
            return self.per_window(slow).sum(axis=1)
        parts = [self.per_window(slow[at : at + CHUNK_ROWS]).sum(axis=1) for at in range(0, len(slow), CHUNK_ROWS)]
        return np.concatenate(parts)

    def of_one(self, row: Slow) -> float:
        """Seconds of the run under one placement; sooner done than a batch of one."""
        if self._summed is not None:
            base, by_object = self._summed
            return base + float(by_object @ row)
        return float(np.maximum(self.slow @ row + self.base, self.floor).sum())

    def scaled(self, *, base: float, slow: float) -> Costs:
        """The same program on a machine whose fast memory takes `base` times as long, and being slow `slow` times."""
        return Costs(
            objects=self.objects,
            sizes=self.sizes,
            windows=self.windows,
            order=self.order,
            floor=self.floor * base,
            base=self.base * base,
            slow=self.slow * slow,
        )

    def per_occurrence(self) -> Costs:
        """The same costs with one window for each occurrence in time: what planning by phases needs."""
        counts = np.bincount(np.asarray(self.order, dtype=np.int64), minlength=len(self.windows))
        index = np.asarray(self.order, dtype=np.int64)
        share = 1.0 / counts[index]
        return Costs(
            objects=self.objects,
            sizes=self.sizes,
            windows=tuple(self.windows[i] for i in self.order),
            order=tuple(range(len(self.order))),
            floor=self.floor[index] * share,
            base=self.base[index] * share,
            slow=self.slow[index] * share[:, None],
        )


def density(costs: Costs) -> NDArray[np.float64]:
    """Seconds saved per byte of fast memory, for each object put there alone beside all the others in slow memory."""
    everything = np.ones((1, len(costs.objects)), dtype=np.bool_)
    alone = np.repeat(everything, len(costs.objects), axis=0)
    np.fill_diagonal(alone, False)
    saved = costs.total(everything)[0] - costs.total(alone)
    return saved / np.maximum(np.asarray(costs.sizes, dtype=np.float64), 1.0)
