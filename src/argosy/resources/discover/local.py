"""This machine as an allocation of one node."""

from __future__ import annotations

import os
import socket

from argosy import arguments
from argosy.resources.allocation import Allocation, Node
from argosy.resources.discover.gpus import VARIABLE, gpus_here
from argosy.resources.discover.memory import memory_nbytes
from argosy.units import format_nbytes

_RANK_NBYTES = 16 * 2**20
"""Less than any rank takes: a Python with MPI and NumPy in it."""
_MOST_GPUS = 1024


def this_machine(ranks: int | None = None, nbytes: int | None = None, gpus: int | None = None) -> Allocation:
    """One rank for each core unless told. More ranks than cores share them, so each rank still counts as one core."""
    cores = num_cores()
    ranks = cores if ranks is None else _ranks(ranks)
    gpu_names = _gpus(gpus)
    node = Node(
        name=socket.gethostname(),
        ranks=ranks,
        cores=max(cores, ranks),
        gpus=len(gpu_names),
        gpu_names=gpu_names,
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


def _gpus(asked: int | None) -> tuple[str, ...]:
    """The first of those that are there. More only where nothing is known of them, as in some containers."""
    there = gpus_here()
    if asked is None:
        return there
    given = arguments.whole("gpus", asked, least=0, most=_MOST_GPUS)
    if VARIABLE in os.environ and given > len(there):
        said = os.environ[VARIABLE]
        raise ValueError(f"gpus={given} is more than {VARIABLE}={said!r} leaves this process: {len(there)}")
    if there and given > len(there):
        raise ValueError(f"gpus={given} is more than this machine has: {len(there)}")
    return there[:given] if there else tuple(str(number) for number in range(given))


def num_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
