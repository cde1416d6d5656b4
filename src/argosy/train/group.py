"""The torch process group of a task: made on the task's own communicator, without environment variables."""

from __future__ import annotations

import gc
import socket
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist

from argosy.comm.ranks import Ranks
from argosy.errors import PeerFailed, PeerLost, TrainError, causes
from argosy.shuffle.gathering import Gathering
from argosy.shuffle.peers import cut_off, seal_of, store_on
from argosy.shuffle.seal import Seal, fresh_key

_FAILED = "failed"
_TRACE = "\0"
"""Between what a rank says and its traceback."""
_TRACE_CHARACTERS = 8000
_LEFT = "left"
_PATIENCE_SECONDS = 1.0
"""How long rank 0, which holds the store, waits for the others to read why it failed."""


class Group:
    """The ranks of one training run, and their process group (None where there is one rank)."""

    def __init__(
        self, ranks: Ranks, process_group: Any, hosts: Sequence[str], store: Any = None, seal: Seal | None = None
    ) -> None:
        """What ranks tell one another goes over the process group, which a rank that fails cuts: in a collective of MPI
        the others would wait for it for ever."""
        self.seal = seal or Seal(fresh_key())
        self.ranks = ranks
        if process_group is not None:
            self.ranks = Gathering(process_group, ranks.rank, ranks.size, self.seal, below=ranks)
        self.process_group = process_group
        self.hosts = list(hosts)
        """Where each rank is."""
        self._store = store

    @property
    def rank(self) -> int:
        return self.ranks.rank

    @property
    def size(self) -> int:
        return self.ranks.size

    def tell(self, error: BaseException) -> None:
        """Say why this rank fails, before a connection ends by which others learn that it does."""
        if self._store is not None:
            _first_failure(self._store, self.rank, error)

    def mean_(self, tensors: Sequence[torch.Tensor]) -> None:
        """Each becomes its mean over all ranks, in place; one all-reduce for each type."""
        if self.process_group is None:
            return
        kinds: dict[tuple[torch.dtype, torch.device], list[torch.Tensor]] = {}
        for tensor in tensors:
            kinds.setdefault((tensor.dtype, tensor.device), []).append(tensor)
        for same in kinds.values():
            flat = torch.cat([tensor.detach().reshape(-1) for tensor in same])
            dist.all_reduce(flat, group=self.process_group)
            flat /= self.size
            for tensor, mean in zip(same, flat.split([tensor.numel() for tensor in same]), strict=True):
                tensor.detach().copy_(mean.view_as(tensor))

    def copy_from_first_(self, tensors: Sequence[torch.Tensor]) -> None:
        """Each becomes what rank 0 has."""
        if self.process_group is not None:
            for tensor in tensors:
                dist.broadcast(tensor.detach(), 0, group=self.process_group)

    def sums(self, values: Sequence[float]) -> list[float]:
        """Over all ranks, added in the order of ranks: the same bits on every rank, and in every run."""
        every = self.ranks.allgather(list(values))
        return [sum(column) for column in zip(*every, strict=True)]


@contextmanager
def joined(ranks: Ranks, device: torch.device) -> Iterator[Group]:
    """A process group for the time of the block. What a rank raises in it frees the others, who raise `PeerFailed`.

    The block should only call one function: all that this function made, with the connections that it holds, is let go
    when it raises, which is how the others learn of it.
    """
    places = ranks.allgather((socket.gethostname(), _gpu(device)))
    hosts = [host for host, _ in places]
    if ranks.size == 1:
        yield Group(ranks, None, hosts)
        return
    if dist.is_initialized():
        raise TrainError(
            "this process already has a torch process group; end it with torch.distributed.destroy_process_group(), "
            "or use train.Ledger and train.NoiseScale in your own loop"
        )
    store, seal = store_on(ranks), seal_of(ranks)
    dist.init_process_group(backend_of(device.type, places), store=store, rank=ranks.rank, world_size=ranks.size)
    try:
        yield Group(ranks, dist.group.WORLD, hosts, store, seal)
    except BaseException as error:
        first = _first_failure(store, ranks.rank, error)
        cut_off(dist.group.WORLD, ranks.rank, ranks.size)
        _let_go(error)
        dist.destroy_process_group()
        _leave(store, ranks)
        if first is not None and _is_of_a_connection(error):
            raise first from error
        raise
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


def backend_of(kind: str, places: Sequence[tuple[str, str]]) -> str:
    """NCCL moves what lies on GPUs, but refuses ranks that share one: then gloo does, by way of the host.

    `places` are the host and the GPU of each rank.
    """
    shared = len(set(places)) < len(places)
    return "cpu:gloo,cuda:nccl" if kind == "cuda" and not shared and dist.is_nccl_available() else "gloo"


def _gpu(device: torch.device) -> str:
    """Which one it is, however the ranks count them."""
    return str(torch.cuda.get_device_properties(device).uuid) if device.type == "cuda" else ""


def _first_failure(store: Any, rank: int, error: BaseException) -> PeerFailed | None:
    """Tell the others, or learn from them, who failed first. None where that is this rank."""
    trace = "".join(traceback.format_exception(error))[-_TRACE_CHARACTERS:]
    said = f"{rank}\n{type(error).__name__}: {error}{_TRACE}{trace}"
    try:
        first, _, told = store.compare_set(_FAILED, "", said).decode(errors="replace").partition("\n")
    except (RuntimeError, dist.DistError):
        return None  # rank 0 is gone, and its store with it
    if int(first) == rank:
        return None
    message, _, trace = told.partition(_TRACE)
    failed = PeerFailed(int(first), message)
    failed.add_note(f"On rank {first}:\n{trace}")
    return failed


def _is_of_a_connection(error: BaseException) -> bool:
    """Whether a rank only failed because another one did: torch has no class of its own for that."""
    words = ("gloo", "nccl", "connection", "peer")
    return isinstance(error, (dist.DistError, PeerLost)) or (
        isinstance(error, RuntimeError) and any(word in str(error).lower() for word in words)
    )


def _let_go(error: BaseException) -> None:
    """Connections end with the last thing that holds them: models and hooks in the frames that failed, and cycles."""
    for one in causes(error):
        traceback.clear_frames(one.__traceback__)
    gc.collect()


def _leave(store: Any, ranks: Ranks) -> None:
    try:
        left = store.add(_LEFT, 1)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while ranks.rank == 0 and left < ranks.size and time.monotonic() < deadline:
            time.sleep(0.01)
            left = store.add(_LEFT, 0)
    except (RuntimeError, dist.DistError):
        return  # rank 0 is gone already
