"""One training run, as it travels to the ranks: what was asked for, checked, and nothing that has run yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from argosy import arguments
from argosy.calls import value
from argosy.train.batch_size import BatchSize
from argosy.train.offload.asked import Offload
from argosy.train.rates import LrRule, Schedule
from argosy.train.schemes import Scheme
from argosy.train.shuffling import Shuffle
from argosy.train.stopping import Stop


@value()
@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """Where and how often a run is kept. A run that finds checkpoints in its folder goes on from the newest."""

    folder: str | Path
    every_steps: int | None = None
    """Unless told, at the end of each epoch. The end of the run is always kept."""
    keep: int = 2
    """How many of the newest stay."""

    def __post_init__(self) -> None:
        arguments.path("folder", self.folder)
        if self.every_steps is not None:
            arguments.settle(self, every_steps=arguments.whole("every_steps", self.every_steps, least=1))
        arguments.settle(self, keep=arguments.whole("keep", self.keep, least=1))


@dataclass(frozen=True, kw_only=True)
class Job:
    model: Any
    """A torch module, or a function that makes one."""
    loss: Callable[..., Any]
    optimizer: Callable[..., Any]
    """From parameters to a torch optimizer."""
    batch_size: BatchSize
    workers: int | None
    """How many learn together; unless told, one on each rank."""
    epochs: int
    metrics: Mapping[str, Callable[..., Any]]
    scheme: Scheme
    shuffle: Shuffle
    lr_rule: LrRule
    schedule: str | Schedule | None
    seed: int
    checkpoint: Checkpoint | None
    precision: str
    device: str
    features: list[str] | None
    label: str | None
    clip: float | None
    accumulate: int
    batch_norm: Literal["average", "sync"]
    stop: Stop | None
    evaluate_every: int | None
    """Samples between evaluations; unless told, at the end of each epoch."""
    ledger: Path | None
    noise: Any
    noise_every: int
    prefetch: int | None
    offload: Offload | None
