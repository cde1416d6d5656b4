"""A whole model on each rank; every step follows the mean gradient of all workers."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from argosy.train.group import Group
from argosy.train.learners.learner import Batch, Loss
from argosy.train.learners.norm import average_buffers, average_statistics, meeting_of
from argosy.train.learners.pieces import pieces_of
from argosy.train.precision import Precision

_NAME = next(
    name
    for name in ("forward_sync_buffers", "broadcast_buffers")  # the newer name first
    if name in inspect.signature(DistributedDataParallel.__init__).parameters
)
_OWN_BUFFERS = {_NAME: False}
"""Else each step would begin with rank 0's: see `average_statistics`."""


class Replica:
    """Data parallel: PyTorch's DDP where there are several ranks. A `Learner`.

    The mean is over samples, not over ranks: a rank with fewer samples in a step weighs less.
    """

    uniform = False
    takes_rows = False

    def __init__(
        self, model: nn.Module, loss: Loss, group: Group, process_group: Any, precision: Precision, *, accumulate: int
    ) -> None:
        """`process_group`: of the ranks that share each step; None for this rank alone."""
        self._module = model
        self._loss = loss
        self._group = group
        self._ranks = 1 if process_group is None else process_group.size()
        self._precision = precision
        self._accumulate = accumulate
        self._meeting = meeting_of(model)
        self._process_group = process_group
        self._model: nn.Module = model
        self.lap: Any = _no_lap

    @property
    def module(self) -> nn.Module:
        return self._module

    @property
    def parallel(self) -> DistributedDataParallel | None:
        """What a communication hook can be given to."""
        return self._model if isinstance(self._model, DistributedDataParallel) else None

    @property
    def parameters(self) -> list[nn.Parameter]:
        return [one for one in self._module.parameters() if one.requires_grad]

    def prepare(self, batch: Batch) -> None:
        """Learn once and forget it: DDP puts its gradients in order after its first step, so the sums of a resumed run
        would otherwise be added in another order than those of a run that was never stopped."""
        devices = [batch.inputs.device] if batch.inputs.device.type == "cuda" else []
        kept = [buffer.clone() for buffer in self._module.buffers()]
        with torch.random.fork_rng(devices):
            self._pass(batch)
            unused = any(self._group.ranks.allgather(any(one.grad is None for one in self.parameters)))
            if self._process_group is not None:
                self._model = DistributedDataParallel(
                    self._module,
                    process_group=self._process_group,
                    **_OWN_BUFFERS,
                    gradient_as_bucket_view=True,
                    find_unused_parameters=unused,
                )
                self._pass(batch)
        self._module.zero_grad(set_to_none=True)
        for buffer, was in zip(self._module.buffers(), kept, strict=True):
            buffer.copy_(was)

    def _pass(self, batch: Batch) -> None:
        low, high = next(iter(pieces_of(batch.bounds, meeting=self._meeting, accumulate=self._accumulate)))
        with self._precision.autocast():
            loss = self._loss(self._model(batch.inputs[low:high]), batch.labels[low:high])
        loss.backward()

    def learn(self, batch: Batch) -> torch.Tensor:
        share = torch.zeros((), device=batch.inputs.device)
        for low, high, last in self._pieces(batch):
            with self._quiet(last):
                with self._precision.autocast():
                    loss = self._loss(self._model(batch.inputs[low:high]), batch.labels[low:high])
                self.lap("forward")
                weight = (high - low) * self._weight(batch)
                self._precision.scaler.scale(loss if weight == 1 else loss * weight).backward()
                self.lap("backward")
            share += loss.detach() * ((high - low) / batch.num_global)
        return share

    def _pieces(self, batch: Batch) -> Iterator[tuple[int, int, bool]]:
        pieces = pieces_of(batch.bounds, meeting=self._meeting, accumulate=self._accumulate)
        for index, (low, high) in enumerate(pieces, 1):
            yield low, high, index == len(pieces)

    def _weight(self, batch: Batch) -> float:
        """Of one sample, in the mean that DDP then takes over ranks."""
        if self._ranks == self._group.size:
            return self._ranks / batch.num_global
        return 1 / batch.bounds[-1]

    def _quiet(self, last: bool) -> Any:
        """Gradients travel with the last piece alone."""
        return nullcontext() if last or self.parallel is None else self.parallel.no_sync()

    def stepped(self, step: int) -> None:
        """All ranks made the same step."""

    def settled(self) -> nn.Module:
        average_statistics(self._module, self._group)
        return self._module

    def shared_state(self) -> dict[str, Any]:
        means = {name: value.clone() for name, value in self._module.named_buffers() if value.is_floating_point()}
        average_buffers(means.values(), self._group)
        state = self._module.state_dict()
        return {"model": state | {name: mean for name, mean in means.items() if name in state}}

    def own_state(self) -> dict[str, Any]:
        return {"buffers": dict(self._module.named_buffers())}

    def optimizer_state(self, state: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        return state, None

    def optimizer_loaded(
        self, optimizer: torch.optim.Optimizer, shared: dict[str, Any] | None, _own: dict[str, Any] | None
    ) -> None:
        optimizer.load_state_dict(shared)

    def handed_out(self) -> dict[str, Any]:
        return self.settled().state_dict()

    def load(self, shared: dict[str, Any], own: dict[str, Any] | None) -> None:
        self._module.load_state_dict(shared["model"])
        there = dict(self._module.named_buffers())
        for name, value in (own or {"buffers": {}})["buffers"].items():
            there[name].copy_(value)


def _no_lap(phase: str) -> None:
    """Nobody takes the time."""
