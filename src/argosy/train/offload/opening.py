"""From what was asked for to a mover, for as long as a model learns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

from argosy.errors import TrainError
from argosy.memory.tiers.disk import Disk
from argosy.resources.discover.memory import available_nbytes
from argosy.train.group import Group
from argosy.train.job import Job
from argosy.train.learners.learner import Batch, Learner
from argosy.train.learners.replica import Replica
from argosy.train.offload.disk import OnHost
from argosy.train.offload.layers import SMALL, layers_of
from argosy.train.offload.mover import InPlace, Mover
from argosy.train.offload.offloading import Offloading
from argosy.train.offload.pinned import Pinned
from argosy.train.offload.slow import Slow
from argosy.train.schemes import Sync


@contextmanager
def offloading(
    job: Job, learner: Learner, group: Group, device: torch.device, first: Batch, *, prefetch: int
) -> Iterator[Mover]:
    """The model of the learner, which is still on the host, goes to the device, and what can be offloaded is.

    `first`: a batch as there will be. `prefetch`: how many more of them there are at a time.
    """
    asked = job.offload
    if asked is None:
        yield InPlace()
        return
    if not isinstance(job.scheme, Sync) or job.scheme.sharded or not isinstance(learner, Replica):
        raise TrainError(
            f"offload= goes with the scheme 'sync', not with {type(job.scheme).__name__}"
            f"{'(sharded=True)' if isinstance(job.scheme, Sync) else ''}: the others keep parameters of their own"
        )
    model = learner.module
    why = _why_parameters_stay(job, group)
    layers, kept = layers_of(model, None if why else first.inputs)
    memory_nbytes = asked.nbytes
    if memory_nbytes is None and asked.kind == "auto":
        memory_nbytes = _free_nbytes(device, group)
    slow: Slow = Pinned(device) if device.type == "cuda" else OnHost(Disk(asked.folder))
    try:
        offloaded = Offloading(
            asked,
            model,
            layers,
            {name: reason for name, reason in kept.items() if reason != SMALL},
            slow,
            group.ranks,
            device=device,
            memory_nbytes=memory_nbytes,
            batches=1 + prefetch,
            clips=job.clip is not None,
            notes=(f"parameters stay in fast memory: {why}",) if why else (),
        )
        yield offloaded
    finally:
        slow.close()


def _why_parameters_stay(job: Job, group: Group) -> str:
    if group.size > 1:
        return "the ranks reduce their gradients in buckets of DDP"
    if job.noise:
        return "the noise scale looks at all of them at once"
    if job.precision in ("float16", "fp16"):
        return "scaled gradients are looked at all at once"
    return ""


def _free_nbytes(device: torch.device, group: Group) -> int:
    """For one rank, of what is free now. Every rank must ask, or the others wait."""
    host = group.hosts[group.rank]
    if device.type == "cuda":  # by its own name: ranks may each call another device `cuda:0`, or the same one
        place = (host, str(torch.cuda.get_device_properties(device).uuid))
        free: int = torch.cuda.mem_get_info(device)[0]
    else:
        place, free = (host, "host"), available_nbytes()
    return share_nbytes(group.ranks.allgather((place, free)), group.rank)


def share_nbytes(told: Sequence[tuple[tuple[str, str], int]], rank: int) -> int:
    """What one rank may take of what is free where it is: as much as each other there, by the least that any saw.

    `told`: by rank, the memory that it uses (a host, and a device or the host itself) and what it saw free there.
    """
    there = [free for place, free in told if place == told[rank][0]]
    return min(there) // len(there)
