"""What the training loop asks of offloading, and the answer where nothing is offloaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import torch
from torch import nn

from argosy.train.learners.learner import Batch
from argosy.train.offload.offloaded import Offloaded
from argosy.train.optimizers import follow
from argosy.train.precision import Precision

Lap = Callable[[str], None]


class Mover(Protocol):
    def adopt(self, optimizer: torch.optim.Optimizer) -> None:
        """This is the optimizer, before its first step and before a checkpoint is loaded into it."""

    def lapped(self, lap: Lap) -> Lap:
        """What is to be called at the end of each forward and backward pass, instead."""

    def saving(self, batch: Batch) -> AbstractContextManager[Any]:
        """The context in which a batch is learned from."""

    def prepared(self) -> None:
        """What was learned since was not a step: forget it."""

    def follow(
        self,
        optimizer: torch.optim.Optimizer,
        precision: Precision,
        parameters: Sequence[nn.Parameter],
        clip: float | None,
    ) -> None:
        """One step along the gradients, which are let go. Ends the step."""

    def told(self) -> Offloaded | None:
        """What came of it."""


class InPlace:
    """Nothing is offloaded. A `Mover`."""

    def adopt(self, _optimizer: torch.optim.Optimizer) -> None:
        """It stays as it is."""

    def lapped(self, lap: Lap) -> Lap:
        return lap

    def saving(self, _batch: Batch) -> AbstractContextManager[Any]:
        return nullcontext()

    def prepared(self) -> None:
        """Nothing is remembered."""

    def follow(
        self,
        optimizer: torch.optim.Optimizer,
        precision: Precision,
        parameters: Sequence[nn.Parameter],
        clip: float | None,
    ) -> None:
        follow(optimizer, precision, parameters, clip)

    def told(self) -> Offloaded | None:
        return None
