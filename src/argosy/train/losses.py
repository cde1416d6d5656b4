"""The losses of all ranks, and a stop where one of them is no number."""

from __future__ import annotations

import math

import torch

from argosy.errors import LossNotFinite
from argosy.shuffle.holdings import Ids
from argosy.train.group import Group


class Losses:
    """Called by the ledger of every rank after the same steps. `kept` tells which checkpoint is left, for a message."""

    def __init__(self, group: Group, *, numbered_over: str = "this rank") -> None:
        """`numbered_over`: whose rows are counted by the numbers that rows have, for a message."""
        self.kept = "there is no checkpoint"
        self._numbered_over = numbered_over
        self._group = group
        self._step = 0

    def start(self, step: int) -> None:
        """So many steps are done already."""
        self._step = step

    def __call__(self, own: list[float]) -> list[float]:
        """From this rank's shares to the means over all samples of each step. A collective."""
        for step, loss in enumerate(own, self._step + 1):
            if not math.isfinite(loss):
                raise LossNotFinite(loss, step, self._group.rank, "its samples", self.kept)
        self._step += len(own)
        return self._group.sums(own)

    def looked_at(self, share: torch.Tensor, step: int, rows: Ids) -> float | torch.Tensor:
        """A loss on the CPU is looked at in each step. On a device it stays there until losses are read, a few steps
        later or before a checkpoint, so that the device is not waited for."""
        if share.device.type != "cpu":
            return share
        loss: float = share.item()
        if not math.isfinite(loss):
            shown = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
            raise LossNotFinite(loss, step, self._group.rank, f"rows {shown} of {self._numbered_over}", self.kept)
        return loss
