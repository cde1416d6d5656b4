"""BatchNorm on several workers: statistics of all of them at each step, or averaged before they are used."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from argosy.train.group import Group
from argosy.train.learners.pieces import Meeting


def meeting_of(model: nn.Module) -> Meeting:
    """What the model makes of a sample may depend on the others of its batch: on those of its worker, or on all."""
    norms = [part for part in model.modules() if isinstance(part, _BatchNorm)]
    if any(isinstance(part, SyncedBatchNorm) for part in norms):
        return "must"
    return "never" if norms else "may"


def average_statistics(model: nn.Module, group: Group) -> None:
    """Running statistics become their mean over ranks. They are not used while training, so it goes on undisturbed."""
    group.mean_([buffer for buffer in model.buffers() if buffer.is_floating_point()])


def synchronised(model: nn.Module, group: Group) -> nn.Module:
    """The same model, with BatchNorm over the samples of all ranks, on any device."""
    if isinstance(model, _BatchNorm):
        return SyncedBatchNorm(model, group)
    for name, part in model.named_children():
        setattr(model, name, synchronised(part, group))
    return model


class SyncedBatchNorm(_BatchNorm):
    """BatchNorm whose mean and variance are those of the samples of all ranks, weighted by how many each has."""

    def __init__(self, like: _BatchNorm, group: Group) -> None:
        super().__init__(like.num_features, like.eps, like.momentum, like.affine, like.track_running_stats)
        self.load_state_dict(like.state_dict())
        self._kind = type(like)
        self._group = group

    def __reduce__(self) -> tuple[Any, ...]:
        """It travels, and is copied, as the plain BatchNorm that it was: the group stays here."""
        plain = self._kind(self.num_features, self.eps, self.momentum, self.affine, self.track_running_stats)
        plain.load_state_dict(self.state_dict())
        plain.train(self.training)
        return plain.__reduce_ex__(2)

    def _check_input_dim(self, inputs: torch.Tensor) -> None:
        if inputs.ndim < 2:
            raise ValueError(f"BatchNorm needs samples and channels, but got {inputs.ndim} dimensions")

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        self._check_input_dim(inputs)
        if not self.training or self._group.process_group is None:
            return super().forward(inputs)
        others = [axis for axis in range(inputs.ndim) if axis != 1]
        shape = [1, -1] + [1] * (inputs.ndim - 2)
        # Sums around the running mean, which is near the true one: the variance does not drown in it.
        pivot = torch.zeros_like(inputs[0, :, ...].flatten(1)[:, 0]) if self.running_mean is None else self.running_mean
        moved = inputs - pivot.detach().view(shape)
        count = inputs.new_full((1,), inputs.numel() / inputs.shape[1])
        sums = torch.cat([moved.sum(others), (moved * moved).sum(others), count])
        sums = _Sum.apply(sums, self._group.process_group)
        first, second, total = sums[:-1].view(2, -1)[0], sums[:-1].view(2, -1)[1], sums[-1]
        offset = first / total
        variance = (second / total - offset * offset).clamp_min(0)
        if self.track_running_stats:
            self._track(pivot + offset.detach(), variance.detach() * total.detach() / (total.detach() - 1))
        normal = (moved - offset.view(shape)) * torch.rsqrt(variance + self.eps).view(shape)
        if not self.affine:
            return normal
        return normal * self.weight.view(shape) + self.bias.view(shape)

    def _track(self, mean: torch.Tensor, variance: torch.Tensor) -> None:
        self.num_batches_tracked += 1
        share = 1 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
        self.running_mean.lerp_(mean, share)
        self.running_var.lerp_(variance, share)


class _Sum(torch.autograd.Function):
    """The sum over ranks. Its gradient is the sum of their gradients."""

    @staticmethod
    def forward(context: Any, values: torch.Tensor, process_group: Any) -> torch.Tensor:
        context.process_group = process_group
        total = values.clone()
        dist.all_reduce(total, group=process_group)
        return total

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        total = gradient.contiguous().clone()
        dist.all_reduce(total, group=context.process_group)
        return total, None
