"""BatchNorm on several workers: statistics of all of them at each step, or averaged before they are used."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from argosy.train.group import Group
from argosy.train.learners.pieces import Meeting

_HALF = torch.float16, torch.bfloat16
"""Numbers that cannot count beyond 2048, or 256."""


def meeting_of(model: nn.Module) -> Meeting:
    """What the model makes of a sample may depend on the others of its batch: on those of its worker, or on all."""
    norms = [part for part in model.modules() if isinstance(part, _BatchNorm)]
    if any(isinstance(part, SyncedBatchNorm) for part in norms):
        return "must"
    return "never" if norms else "may"


def average_statistics(model: nn.Module, group: Group) -> None:
    """Running statistics become their mean over ranks. They are not used while training, so it goes on undisturbed."""
    average_buffers(model.buffers(), group)


def average_buffers(buffers: Iterable[torch.Tensor], group: Group) -> None:
    """Buffers become their mean over ranks, but one that is the same everywhere stays as it is, to the bit: a frozen
    statistic, or the largest number there is in a mask, of which there is no sum."""
    floats = [buffer for buffer in buffers if buffer.is_floating_point() and buffer.numel()]
    if group.process_group is None or not floats:
        return
    said = group.ranks.allgather([_digest(buffer) for buffer in floats])
    group.mean_([buffer for buffer, each in zip(floats, zip(*said, strict=True), strict=True) if len(set(each)) > 1])


def _digest(buffer: torch.Tensor) -> bytes:
    raw = buffer.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return hashlib.blake2b(raw.data, digest_size=16).digest()


def synchronised(model: nn.Module, group: Group, known: dict[int, nn.Module] | None = None) -> nn.Module:
    """The same model, with BatchNorm over the samples of all ranks, on any device. One that is there under several
    names stays one."""
    known = {} if known is None else known
    if id(model) not in known:
        known[id(model)] = SyncedBatchNorm(model, group) if isinstance(model, _BatchNorm) else model
        for name, part in model._modules.items():
            if part is not None:
                model._modules[name] = synchronised(part, group, known)
    return known[id(model)]


class SyncedBatchNorm(_BatchNorm):
    """BatchNorm whose mean and variance are those of the samples of all ranks, weighted by how many each has."""

    def __init__(self, like: _BatchNorm, group: Group) -> None:
        """Takes over the parameters and buffers themselves: where they lie, whether they learn, who else has them."""
        super().__init__(like.num_features, like.eps, like.momentum, like.affine, like.track_running_stats)
        self._parameters, self._buffers = like._parameters, like._buffers
        self.training = like.training
        self._kind = type(like)
        self._group = group

    def __reduce__(self) -> tuple[Any, ...]:
        """It travels, and is copied, as the plain BatchNorm that it was: the group stays here."""
        plain = self._kind(self.num_features, self.eps, self.momentum, self.affine, self.track_running_stats)
        plain._parameters, plain._buffers, plain.training = self._parameters, self._buffers, self.training
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
        kind, inputs = inputs.dtype, inputs.float() if inputs.dtype in _HALF else inputs
        # Sums around the running mean, which is near the true one: the variance does not drown in it.
        pivot = inputs.new_zeros(inputs.shape[1]) if self.running_mean is None else self.running_mean.to(inputs.dtype)
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
            return normal.to(kind)
        return (normal * self.weight.view(shape) + self.bias.view(shape)).to(kind)

    def _track(self, mean: torch.Tensor, variance: torch.Tensor) -> None:
        self.num_batches_tracked += 1
        share = 1 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), share)
        self.running_var.lerp_(variance.to(self.running_var.dtype), share)


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
