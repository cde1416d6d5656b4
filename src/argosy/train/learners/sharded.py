"""A model divided over the ranks (FSDP2): each holds its part of parameters, gradients and optimizer states."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from argosy.train.learners.learner import Batch
from argosy.train.learners.replica import Replica

_LARGE = 1 << 20
"""Parameters of a layer that is gathered and let go by itself."""


class Sharded(Replica):
    """The same step as a `Replica`'s. A checkpoint has whole tensors, so another number of ranks can go on from it."""

    uniform = True

    def prepare(self, batch: Batch) -> None:
        self._group.copy_from_first_([*self._module.parameters(), *self._module.buffers()])
        mesh = init_device_mesh(batch.inputs.device.type, (self._group.size,))
        for layer in _layers(self._module):
            fully_shard(layer, mesh=mesh)
        fully_shard(self._module, mesh=mesh)

    @contextmanager
    def _quiet(self, last: bool) -> Iterator[None]:
        self._module.set_requires_gradient_sync(last)
        yield

    def shared_state(self) -> dict[str, Any]:
        return {"model": _whole(super().shared_state()["model"])}

    def load(self, shared: dict[str, Any], own: dict[str, Any] | None) -> None:
        here = self._module.state_dict()
        super().load({"model": {name: _part(value, here[name]) for name, value in shared["model"].items()}}, own)

    def optimizer_state(self, state: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        whole = {index: _whole(part) for index, part in state["state"].items()}
        return {**state, "state": whole}, None

    def optimizer_loaded(
        self, optimizer: torch.optim.Optimizer, shared: dict[str, Any] | None, _own: dict[str, Any] | None
    ) -> None:
        assert shared is not None
        parts = {}
        for index, part in shared["state"].items():
            like = self.parameters[int(index)]
            fits = {name: isinstance(one, torch.Tensor) and one.shape == like.shape for name, one in part.items()}
            parts[index] = {name: _part(one, like) if fits[name] else one for name, one in part.items()}
        optimizer.load_state_dict({**shared, "state": parts})

    def handed_out(self) -> dict[str, Any]:
        return _whole(super().handed_out())


def _layers(model: nn.Module) -> Iterator[nn.Module]:
    for part in model.children():
        if isinstance(part, nn.ModuleList | nn.Sequential):
            yield from _layers(part)
        elif sum(one.numel() for one in part.parameters()) >= _LARGE:
            yield part


def _whole(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value.full_tensor() if isinstance(value, DTensor) else value for name, value in state.items()}


def _part(whole: torch.Tensor, like: Any) -> torch.Tensor:
    if not isinstance(like, DTensor):
        return whole
    part: torch.Tensor = distribute_tensor(whole.to(like.device), like.device_mesh, like.placements)
    return part
