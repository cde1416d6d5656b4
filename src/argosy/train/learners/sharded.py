"""A model divided over the ranks (FSDP2): each holds its part of parameters, gradients and optimizer states."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from argosy.train.checkpoint import Rows, StoredRows
from argosy.train.learners.learner import Batch
from argosy.train.learners.replica import Replica
from argosy.train.learners.units import units_of


class Sharded(Replica):
    """The same step as a `Replica`'s. Of a checkpoint each rank writes and reads its own rows of each tensor, so that
    any number of ranks can go on from it, and none ever has all."""

    uniform = True
    takes_rows = True

    def prepare(self, batch: Batch) -> None:
        self._group.copy_from_first_([*self._module.parameters(), *self._module.buffers()])
        mesh = init_device_mesh(batch.inputs.device.type, (self._group.size,))
        for unit in units_of(self._module):
            fully_shard(unit, mesh=mesh)
        fully_shard(self._module, mesh=mesh)

    @contextmanager
    def _quiet(self, last: bool) -> Iterator[None]:
        self._module.set_requires_gradient_sync(last)
        yield

    def shared_state(self) -> dict[str, Any]:
        return {"model": self._in_rows(super().shared_state()["model"])}

    def load(self, shared: dict[str, Any], own: dict[str, Any] | None) -> None:
        here = self._module.state_dict()
        super().load({"model": {name: _part(value, here[name]) for name, value in shared["model"].items()}}, own)

    def optimizer_state(self, state: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        return {**state, "state": {index: self._in_rows(part) for index, part in state["state"].items()}}, None

    def optimizer_loaded(
        self, optimizer: torch.optim.Optimizer, shared: dict[str, Any] | None, _own: dict[str, Any] | None
    ) -> None:
        assert shared is not None
        parts = {}
        for index, part in shared["state"].items():
            like = self.parameters[int(index)]
            fits = {name: hasattr(one, "shape") and one.shape == like.shape for name, one in part.items()}
            parts[index] = {name: _part(one, like) if fits[name] else one for name, one in part.items()}
        optimizer.load_state_dict({**shared, "state": parts})

    def handed_out(self) -> dict[str, Any]:
        """One tensor after another leaves the device, whole."""
        state = super().handed_out()
        return {name: _whole(value) for name, value in state.items()}

    def _in_rows(self, state: dict[str, Any]) -> dict[str, Any]:
        return {name: self._rows(value) if isinstance(value, DTensor) else value for name, value in state.items()}

    def _rows(self, value: DTensor) -> Rows:
        first, stop = _mine(value, self._group.rank)
        held = value.to_local().detach()
        local = held[: stop - first] if stop > first else held.new_empty((0, *value.shape[1:]))
        return Rows(local, first, value.shape[0])


def _mine(value: DTensor, rank: int) -> tuple[int, int]:
    """The rows of a tensor on this rank: as `torch.chunk` divides them."""
    rows = value.shape[0]
    each = -(-rows // value.device_mesh.size())
    return min(rank * each, rows), min((rank + 1) * each, rows)


def _whole(value: Any) -> Any:
    return value.full_tensor().cpu() if isinstance(value, DTensor) else value


def _part(whole: Any, like: Any) -> Any:
    if isinstance(whole, StoredRows):
        if not isinstance(like, DTensor):
            return whole.whole()
        first, stop = _mine(like, like.device_mesh.get_local_rank())
        local = whole.read(first, stop).to(like.device)
        return DTensor.from_local(
            local, like.device_mesh, like.placements, run_check=False, shape=like.shape, stride=like.stride()
        )
    if not isinstance(like, DTensor):
        return whole
    return distribute_tensor(whole.to(like.device), like.device_mesh, like.placements)
