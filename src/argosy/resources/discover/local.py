"""This machine as an allocation of one node."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from argosy import arguments
from argosy.resources.allocation import Allocation, Node
from argosy.resources.discover.memory import memory_nbytes
from argosy.units import format_nbytes

_RANK_NBYTES = 16 * 2**20
"""Less than any rank takes: a Python with MPI and NumPy in it."""
_MOST_GPUS = 1024


def this_machine(ranks: int | None = None, nbytes: int | None = None, gpus: int | None = None) -> Allocation:
    """One rank for each core unless told. More ranks than cores share them, so each rank still counts as one core."""
    cores = num_cores()
    ranks = cores if ranks is None else _ranks(ranks)
    node = Node(
        name=socket.gethostname(),
        ranks=ranks,
        cores=max(cores, ranks),
        gpus=num_gpus() if gpus is None else arguments.whole("gpus", gpus, least=0, most=_MOST_GPUS),
        nbytes=memory_nbytes() if nbytes is None else nbytes,
    )
    return Allocation(nodes=(node,))


def _ranks(asked: int) -> int:
    given = arguments.whole("ranks", asked, least=1)
    there = memory_nbytes()
    if given > there // _RANK_NBYTES:
        raise ValueError(
            f"ranks={arguments.show(given)} is more than this machine can start: each is a process, and it has "
            f"{format_nbytes(there)} of memory"
        )
    return given


def num_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def num_gpus() -> int:
    """NVIDIA GPUs that this process may see, without loading a driver."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([word for word in visible.split(",") if word.strip() not in ("", "-1")])
    return len(list(Path("/proc/driver/nvidia/gpus").glob("*")))
