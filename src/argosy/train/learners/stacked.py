"""Workers of local SGD or DiLoCo that live on one device, side by side: their parameters are stacked.

A parameter of shape [...] becomes one of shape [workers, ...], and one vectorised pass (vmap) takes every worker's own
gradient from its own samples. An elementwise optimizer (SGD, Adam, ...) then steps all workers at once, each by itself.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.func import functional_call, grad_and_value, vmap

from argosy.errors import BadBatch, TrainError
from argosy.train.learners.learner import Batch, Loss
from argosy.train.learners.outer import OuterStep

Mean = Callable[[Sequence[torch.Tensor]], None]
"""Makes each tensor its mean over ranks, in place."""


class StackedLearner:
    """`workers` workers of this rank, averaged every `every` steps. A `Learner`.

    `outer` is the rate and the momentum of DiLoCo's outer step. `mean` averages over ranks; without it this rank is
    alone. Each worker has its own BatchNorm statistics and its own dropout. Memory: `workers` times parameters,
    gradients and optimizer states.
    """

    uniform = False
    takes_rows = False

    def __init__(
        self,
        model: nn.Module,
        loss: Loss,
        workers: int,
        *,
        every: int,
        outer: tuple[float, float] | None = None,
        mean: Mean | None = None,
        mean_buffers: Mean | None = None,
    ) -> None:
        if workers < 1 or every < 1:
            raise ValueError(f"there is at least 1 worker, and 1 step between means; not {workers} and {every}")
        self.module = model
        self.workers = workers
        self.lap: Callable[[str], None] = _no_lap
        self._loss = loss
        self._every = every
        self._outer = None if outer is None else OuterStep(*outer)
        self._mean = mean or _alone
        self._mean_buffers = mean_buffers or self._mean
        self._settled: nn.Module | None = None
        learned = {name: one for name, one in model.named_parameters() if one.requires_grad}
        self._fixed = {name: one.detach() for name, one in model.named_parameters() if not one.requires_grad}
        self._parameters = {name: nn.Parameter(_stacked(one, workers)) for name, one in learned.items()}
        self._buffers = {name: _stacked(one, workers) for name, one in model.named_buffers()}
        self._gradients = vmap(grad_and_value(self._loss_of), randomness="different")
        if self._outer is not None:
            self._outer.start(list(learned.values()))

    @property
    def parameters(self) -> list[nn.Parameter]:
        """Stacked, one for each of the model's that learn."""
        return list(self._parameters.values())

    def prepare(self, _batch: Batch) -> None:
        """Nothing is put in order in the first step."""

    def learn(self, batch: Batch) -> torch.Tensor:
        """Workers with equally many samples learn in one pass; parts that differ by one sample take two passes."""
        sizes = [high - low for low, high in zip(batch.bounds, batch.bounds[1:], strict=False)]
        if len(sizes) != self.workers or min(sizes) < 1:
            raise BadBatch(
                f"{self.workers} workers need a part of the batch each, with at least one sample, "
                f"but there are parts of {sizes[:20]} samples"
            )
        share = torch.zeros((), device=batch.inputs.device)
        for param in self._parameters.values():
            param.grad = torch.empty_like(param)
        for size in sorted(set(sizes)):
            chosen = [worker for worker, one in enumerate(sizes) if one == size]
            losses = self._learn(batch, chosen, size)
            share += losses.sum() * (size / batch.num_global)
        self.lap("backward")
        return share

    def _learn(self, batch: Batch, chosen: list[int], size: int) -> torch.Tensor:
        every = len(chosen) == self.workers
        device = batch.inputs.device
        workers = slice(None) if every else torch.tensor(chosen, device=device)
        if every:
            inputs, labels = (rows.unflatten(0, (self.workers, size)) for rows in (batch.inputs, batch.labels))
        else:
            starts = torch.tensor([batch.bounds[worker] for worker in chosen], device=device)
            rows = starts[:, None] + torch.arange(size, device=device)
            inputs, labels = batch.inputs[rows], batch.labels[rows]
        parameters = {name: one.detach()[workers] for name, one in self._parameters.items()}
        buffers = {name: one[workers] for name, one in self._buffers.items()}
        try:
            gradients, losses = self._gradients(parameters, buffers, inputs, labels)
        except torch.OutOfMemoryError:
            raise
        except (RuntimeError, ValueError, NotImplementedError) as error:
            raise TrainError(
                f"the model {type(self.module).__name__} cannot learn as {self.workers} stacked workers, as vmap does "
                f"not run it: {_first_line(error)}; give each worker a rank of its own, or use the scheme 'sync'"
            ) from error
        for name, param in self._parameters.items():
            if every:
                param.grad = gradients[name]
            else:
                param.grad[workers] = gradients[name]
        for name, kept in self._buffers.items():
            if not every:  # what the pass changed in place was a copy
                kept[workers] = buffers[name]
        detached: torch.Tensor = losses.detach()
        return detached

    def _loss_of(
        self,
        parameters: dict[str, torch.Tensor],
        buffers: dict[str, torch.Tensor],
        inputs: torch.Tensor,
        labels: torch.Tensor,
    ) -> torch.Tensor:
        output = functional_call(self.module, {**parameters, **self._fixed, **buffers}, (inputs,))
        return self._loss(output, labels)

    @torch.no_grad()
    def stepped(self, step: int) -> None:
        if step % self._every:
            return
        means = self._means(self._parameters)
        if self._outer is not None:
            self._outer.step(means)
        for param, mean in zip(self._parameters.values(), means, strict=True):
            param.copy_(mean.expand_as(param))

    @torch.no_grad()
    def _means(self, stacked: dict[str, Any]) -> list[torch.Tensor]:
        """Over the workers of all ranks."""
        means = [one.detach().mean(0) for one in stacked.values()]
        self._mean(means)
        return means

    def settled(self) -> nn.Module:
        """A copy: the workers stay where they are. Whole numbers among the buffers are the first worker's."""
        if self._settled is None:
            self._settled = copy.deepcopy(self.module)
        statistics = {name: _agreed(one) for name, one in self._buffers.items() if one.is_floating_point()}
        self._mean_buffers(list(statistics.values()))
        values = dict(zip(self._parameters, self._means(self._parameters), strict=True))
        values |= {name: one[0] for name, one in self._buffers.items()}
        values |= statistics
        with torch.no_grad():
            for name, one in [*self._settled.named_parameters(), *self._settled.named_buffers()]:
                if name in values:
                    one.copy_(values[name])
        return self._settled

    def shared_state(self) -> dict[str, Any]:
        outer = None if self._outer is None else self._outer.state_dict()
        return {"model": self.settled().state_dict(), "outer": outer}

    def own_state(self) -> dict[str, Any]:
        parameters = {name: one.detach() for name, one in self._parameters.items()}
        return {"parameters": parameters, "buffers": dict(self._buffers)}

    @torch.no_grad()
    def load(self, shared: dict[str, Any], own: dict[str, Any] | None) -> None:
        self.module.load_state_dict(shared["model"])
        there = {**dict(self.module.named_parameters()), **dict(self.module.named_buffers())}
        for kind, stacked in (("parameters", self._parameters), ("buffers", self._buffers)):
            for name, one in stacked.items():
                kept = own[kind].get(name) if own else None
                same = kept is not None and kept.shape == one.shape
                one.copy_(kept if same else there[name].expand_as(one))
        if self._outer is not None and shared["outer"] is not None:
            self._outer.load_state_dict(shared["outer"])

    def optimizer_state(self, state: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """All of it is this rank's own: each worker steps by itself."""
        return None, state

    def optimizer_loaded(
        self, optimizer: torch.optim.Optimizer, _shared: dict[str, Any] | None, own: dict[str, Any] | None
    ) -> None:
        """Another number of workers starts with a new optimizer."""
        if own is not None:
            optimizer.load_state_dict(own)

    def handed_out(self) -> dict[str, Any]:
        state: dict[str, Any] = self.settled().state_dict()
        return state


def _stacked(one: torch.Tensor, workers: int) -> torch.Tensor:
    return one.detach().expand(workers, *one.shape).clone()


def _agreed(stacked: torch.Tensor) -> torch.Tensor:
    """The mean over workers; what is the same for all of them stays as it is, to the bit."""
    first = stacked[0].detach().clone()
    alike = first.expand_as(stacked).contiguous().reshape(-1).view(torch.uint8)
    return first if torch.equal(stacked.reshape(-1).view(torch.uint8), alike) else stacked.detach().mean(0)


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _alone(_tensors: Sequence[torch.Tensor]) -> None:
    """One rank is its own mean."""


def _no_lap(_phase: str) -> None:
    """Nobody takes the time."""
