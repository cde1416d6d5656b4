"""From a scheme to the learner that acts on it."""

from __future__ import annotations

import copy

import torch
import torch.distributed as dist
from torch import nn

from argosy.errors import TrainError
from argosy.train.group import Group
from argosy.train.job import Job
from argosy.train.learners.averaging import Averaging
from argosy.train.learners.learner import Learner, Loss
from argosy.train.learners.norm import average_buffers, synchronised
from argosy.train.learners.outer import OuterStep
from argosy.train.learners.replica import Replica
from argosy.train.learners.stacked import StackedLearner
from argosy.train.modes import to_learn
from argosy.train.precision import Precision
from argosy.train.schemes import DiLoCo, Hierarchical, LocalSGD, Sync


def learner_of(job: Job, model: nn.Module, group: Group, precision: Precision, *, workers: int) -> Learner:
    """`workers`: how many there are on this rank."""
    scheme, loss, accumulate = job.scheme, job.loss, job.accumulate
    if job.batch_norm == "sync":
        if not isinstance(scheme, Sync) or scheme.sharded:
            raise TrainError(
                "batch_norm='sync' needs all workers at each step, which only the scheme 'sync' has; use 'average'"
            )
        model = synchronised(model, group)
    if isinstance(scheme, Sync):
        if scheme.sharded and group.size > 1:
            if job.noise:
                raise TrainError("the noise scale cannot be heard where the model is divided over ranks; use 'sync'")
            from argosy.train.learners.sharded import Sharded

            return Sharded(model, loss, group, group.process_group, precision, accumulate=accumulate)
        return Replica(model, loss, group, group.process_group, precision, accumulate=accumulate)
    if isinstance(scheme, Hierarchical):
        node = _node_group(group, scheme.ranks_per_node)
        return Averaging(Replica(model, loss, group, node, precision, accumulate=accumulate), group, every=scheme.every)
    if workers > 1:
        _check_stacked(job)
        return _stacked(scheme, model, loss, group, workers)
    outer = OuterStep(scheme.outer_lr, scheme.outer_momentum) if isinstance(scheme, DiLoCo) else None
    alone = Replica(model, loss, group, None, precision, accumulate=accumulate)
    return Averaging(alone, group, every=scheme.every, outer=outer)


def _check_stacked(job: Job) -> None:
    asked = {"noise": bool(job.noise), "clip": job.clip is not None, "accumulate": job.accumulate > 1}
    asked["precision"] = job.precision != "float32"
    if refused := [name for name, is_asked in asked.items() if is_asked]:
        raise TrainError(
            f"{refused[0]}= cannot be had with several workers of {type(job.scheme).__name__} on one rank; "
            "leave it out, or give each worker a rank of its own"
        )


def _stacked(scheme: LocalSGD | DiLoCo, model: nn.Module, loss: Loss, group: Group, workers: int) -> Learner:
    outer = (scheme.outer_lr, scheme.outer_momentum) if isinstance(scheme, DiLoCo) else None
    return StackedLearner(
        model,
        loss,
        workers,
        every=scheme.every,
        outer=outer,
        mean=group.mean_,
        mean_buffers=lambda buffers: average_buffers(buffers, group),
    )


def _node_group(group: Group, ranks_per_node: int | None) -> object:
    """The process group of the ranks on this rank's node; every rank takes part in making each. None for one rank."""
    if group.process_group is None:
        return None
    places = group.hosts if ranks_per_node is None else [str(rank // ranks_per_node) for rank in range(group.size)]
    mine: object = None
    for place in dict.fromkeys(places):
        members = [rank for rank, at in enumerate(places) if at == place]
        made = dist.new_group(members)
        if group.rank in members and len(members) > 1:
            mine = made
    return mine


def built(given: nn.Module | object, seed: int, device: torch.device) -> nn.Module:
    """The model with the weights of this seed, the same on every rank."""
    torch.manual_seed(seed)
    model = copy.deepcopy(given) if isinstance(given, nn.Module) else given() if callable(given) else given
    if not isinstance(model, nn.Module):
        raise TypeError(f"model is a torch module or a function that makes one, not {model!r}")
    if not any(one.requires_grad for one in model.parameters()):
        raise TrainError("the model has no parameters that could learn")
    return to_learn(model.to(device))
