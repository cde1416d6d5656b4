"""How many samples make a step: of all workers together, or of each. Never left open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from argosy import arguments
from argosy.calls import PURE, declared, value
from argosy.errors import BadBatch


@value()
@dataclass(frozen=True, slots=True)
class BatchSize:
    size: int
    of: Literal["all workers", "each worker"]

    def __post_init__(self) -> None:
        arguments.settle(self, size=_positive(self.size))
        arguments.one_of("of", self.of, ("all workers", "each worker"))

    def of_all(self, workers: int) -> int:
        return self.size if self.of == "all workers" else self.size * workers

    def __str__(self) -> str:
        return f"{self.size} for {self.of}"


@declared(PURE)
def global_batch(size: int) -> BatchSize:
    """So many samples a step, however many workers share them."""
    return BatchSize(size, "all workers")


@declared(PURE)
def per_worker(size: int) -> BatchSize:
    """So many samples a step for each worker: more workers make a larger batch, and may need another learning rate."""
    return BatchSize(size, "each worker")


def batch_size_of(given: int | BatchSize, workers: int) -> BatchSize:
    """A plain number is the batch of all workers together, so that adding workers does not change the training."""
    asked = given if isinstance(given, BatchSize) else global_batch(given)
    if asked.of == "all workers" and asked.size < workers:
        raise BadBatch(
            f"a batch of {asked.size} for all workers leaves some of {workers} workers without a sample; "
            f"take at least {workers}, or say per_worker({asked.size})"
        )
    return asked


def _positive(size: int) -> int:
    try:
        return arguments.whole("size", size, least=1, most=2**63 - 1)
    except (TypeError, ValueError):
        said = arguments.show(size)
        raise BadBatch(f"size: a batch size is a whole number of samples above 0, not {said}") from None
