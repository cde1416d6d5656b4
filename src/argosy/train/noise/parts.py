"""Gradients of the parts of a batch, and their squared norms."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import torch
from torch.func import functional_call, grad, vmap

from argosy.errors import BadBatch

if TYPE_CHECKING:
    from argosy.train.learners.learner import Loss


def squared_norm(gradients: Sequence[torch.Tensor | None]) -> torch.Tensor:
    """Of all of them together, as a float64 scalar on their device; half precision is summed in single."""
    there = [gradient for gradient in gradients if gradient is not None]
    if not there:
        return torch.zeros((), dtype=torch.float64)
    if there[0].dtype in (torch.float16, torch.bfloat16):
        norms = [torch.linalg.vector_norm(one, dtype=torch.float32) for one in there]
    else:
        norms = list(torch._foreach_norm(there)) if len(there) > 1 else [torch.linalg.vector_norm(there[0])]
    return torch.stack(norms).double().square().sum()


def add_up(totals: Sequence[torch.Tensor | None], more: Sequence[torch.Tensor | None]) -> list[torch.Tensor | None]:
    """Into `totals`, where both are there; the one that is there otherwise."""
    both = [(total, one) for total, one in zip(totals, more, strict=True) if total is not None and one is not None]
    if both:
        torch._foreach_add_([total for total, _ in both], [one for _, one in both])
    return [one if total is None else total for total, one in zip(totals, more, strict=True)]


def part_norms(
    model: Any, loss: Loss, inputs: torch.Tensor, labels: torch.Tensor, parts: int
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Mean squared norm of the parts' gradients, that of their mean, and how many samples were used.

    All parts at once where vmap knows the model's operations, else one after the other.
    """
    size = len(inputs) // parts if parts > 1 else 0
    if not size:
        raise BadBatch(f"a batch of {len(inputs)} samples cannot be cut into {parts} parts; take 2 to {len(inputs)}")
    model = getattr(model, "module", model) if hasattr(model, "register_comm_hook") else model
    used = size * parts
    inputs, labels = (rows[:used].unflatten(0, (parts, size)) for rows in (inputs, labels))
    learned = {name: one.detach() for name, one in model.named_parameters() if one.requires_grad}
    fixed = {name: one.detach() for name, one in model.named_parameters() if not one.requires_grad}
    buffers = {name: one.detach() for name, one in model.named_buffers()}

    def loss_of(
        parameters: dict[str, torch.Tensor], own: dict[str, torch.Tensor], rows: torch.Tensor, wanted: torch.Tensor
    ) -> torch.Tensor:
        return loss(functional_call(model, {**parameters, **fixed, **own}, (rows,)), wanted)

    gradient_of = grad(loss_of)
    with _unchanged_random(inputs.device):
        try:
            own = {name: one.expand(parts, *one.shape).clone() for name, one in buffers.items()}
            stacked = vmap(gradient_of, in_dims=(None, 0, 0, 0), randomness="different")(learned, own, inputs, labels)
            gradients = [one.flatten(1) for one in stacked.values()]
        except (RuntimeError, ValueError):  # an operation that vmap does not know, or a model that looks at its values
            each = [
                gradient_of(learned, {name: one.clone() for name, one in buffers.items()}, inputs[i], labels[i])
                for i in range(parts)
            ]
            gradients = [torch.stack([one[name].flatten() for one in each]) for name in learned]
    small = squared_norm(gradients) / parts
    return small, squared_norm([one.mean(0) for one in gradients]), used


def _unchanged_random(device: torch.device) -> AbstractContextManager[None]:
    devices = [device] if device.type == "cuda" else []
    forked: AbstractContextManager[None] = torch.random.fork_rng(devices=devices)
    return forked
