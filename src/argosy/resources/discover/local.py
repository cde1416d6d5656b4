"""This machine as an allocation of one node."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from argosy.resources.allocation import Allocation, Node
from argosy.resources.discover.memory import memory_nbytes


def this_machine(ranks: int | None = None, nbytes: int | None = None, gpus: int | None = None) -> Allocation:
    """One rank for each core unless told. More ranks than cores share them, so each rank still counts as one core."""
    cores = num_cores()
    ranks = cores if ranks is None else ranks
    node = Node(
        name=socket.gethostname(),
        ranks=ranks,
        cores=max(cores, ranks),
        gpus=num_gpus() if gpus is None else gpus,
        nbytes=memory_nbytes() if nbytes is None else nbytes,
    )
    return Allocation(nodes=(node,))


def num_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def num_gpus() -> int:
    """NVIDIA GPUs that this process may see, without loading a driver."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([word for word in visible.split(",") if word.strip() not in ("", "-1")])
    return len(list(Path("/proc/driver/nvidia/gpus").glob("*")))
