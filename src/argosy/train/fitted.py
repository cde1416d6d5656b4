"""What a training run gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from argosy.calls import value
from argosy.train.run import Evaluation

if TYPE_CHECKING:
    from argosy.train.ledger import Ledger
    from argosy.train.noise import NoiseScale
    from argosy.train.offload.offloaded import Offloaded


@value()
@dataclass(frozen=True, kw_only=True)
class Fit:
    """A trained model, and how it came about."""

    model: Any
    """On the CPU: the one that all ranks agree on, with BatchNorm statistics of all of them."""
    ledger: Ledger
    steps: int
    samples: int
    """Learned from, by all workers together."""
    classes: tuple[Any, ...] | None
    """What the outputs stand for, where labels are classes."""
    why_stopped: str
    """"epochs" or "stop"."""
    resumed_at: int | None
    """The step of the checkpoint from which this run went on."""
    noise: NoiseScale | None
    offload: Offloaded | None = None
    """What lay in slow memory on the first rank, and what that cost; None without `offload=`, or without a step."""

    @property
    def losses(self) -> list[float]:
        """Of each step, the mean over its samples on all ranks; also of the steps before a resume."""
        return list(self.ledger.losses)

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        return tuple(self.ledger.evaluations)

    @property
    def metrics(self) -> dict[str, float]:
        """Of the last evaluation."""
        return self.evaluations[-1].metrics if self.evaluations else {}

    def __str__(self) -> str:
        told = ", ".join(f"{name} {value:.4g}" for name, value in self.metrics.items())
        return f"{self.steps:,} steps over {self.samples:,} samples" + (f": {told}" if told else "")
