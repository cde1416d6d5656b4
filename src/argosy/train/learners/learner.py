"""Who learns: a model on this rank, and how it moves together with the others. One class for each scheme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import torch

Loss = Callable[["torch.Tensor", "torch.Tensor"], "torch.Tensor"]
"""Of the model's output and the labels: the mean over the samples of a batch."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """What this rank learns from in one step: one part for each of its workers."""

    inputs: torch.Tensor
    labels: torch.Tensor
    bounds: tuple[int, ...]
    """Rows `bounds[i]:bounds[i + 1]` are the samples of this rank's i-th worker."""
    num_global: int
    """Samples of this step on all ranks together."""


class Learner(Protocol):
    """What the loop asks for. All ranks call the same methods in the same order."""

    uniform: bool
    """Whether evaluating takes all ranks at the same time, with as many batches each."""

    takes_rows: bool
    """Whether it reads its own rows of a tensor from a checkpoint, instead of all."""

    lap: Callable[[str], None]
    """Called at the end of each forward and backward pass; the ledger's."""

    @property
    def parameters(self) -> list[torch.nn.Parameter]:
        """What the optimizer moves."""

    def prepare(self, batch: Batch) -> None:
        """Before the first step, also of a resumed run: whatever the first step would put in order by the way."""

    def learn(self, batch: Batch) -> torch.Tensor:
        """Forward and backward: leaves in `.grad` what the optimizer is to follow. Returns this rank's share of the
        step's mean loss (detached): the sum over all ranks is the mean over all samples of the step."""

    def stepped(self, step: int) -> None:
        """The optimizer has moved the parameters for the `step`-th time (from 1): average now, where it is due."""

    def settled(self) -> torch.nn.Module:
        """The one model that all ranks would agree on now, to evaluate and to hand out: parameters averaged where they
        differ, BatchNorm statistics averaged over workers. A collective; does not disturb training."""

    def shared_state(self) -> dict[str, Any]:
        """What is the same on all ranks, for a checkpoint."""

    def own_state(self) -> dict[str, Any]:
        """What this rank alone has, for a checkpoint."""

    def optimizer_state(self, state: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """An optimizer's `state_dict` for a checkpoint: what all ranks have alike, and what is this rank's alone."""

    def optimizer_loaded(
        self, optimizer: torch.optim.Optimizer, shared: dict[str, Any] | None, own: dict[str, Any] | None
    ) -> None:
        """Give such a state back to the optimizer; where neither fits, it starts anew."""

    def handed_out(self) -> dict[str, Any]:
        """The state of the model that training ends with, whole, on every rank. A collective."""

    def load(self, shared: dict[str, Any], own: dict[str, Any] | None) -> None:
        """Go on from there. `own` is None when the number of workers has changed: then from `shared` alone."""
