"""One training run, as far as speed-up is judged by it."""

from __future__ import annotations

from dataclasses import dataclass

from argosy.calls import value


@value()
@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """The held-out metrics after so many samples."""

    samples: int
    """Samples learned from until then, by all workers together."""
    seconds: float
    """Time spent training until then: without evaluations and checkpoints."""
    metrics: dict[str, float]


@value()
@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What one run with one seed showed."""

    workers: int
    seed: int
    batch: int
    """Samples in one step, of all workers together."""
    evaluations: tuple[Evaluation, ...]
    """In order of samples."""
    samples_per_second: float
    """Over the whole run, while training."""
