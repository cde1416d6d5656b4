"""The ranks among which samples are exchanged: a process group of their own, so that nothing else waits for them."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist

from argosy.errors import PeerLost

_LOST = "argosy/lost"


class Peers:
    """This process and its peers. Without a process group it is alone."""

    def __init__(self, group: Any = None, *, timeout_seconds: float = 1800.0) -> None:
        """A collective of the group's ranks. `group`: any process group; None for all ranks, where there are several.

        Samples lie in the memory of the host, so their group is a gloo group, also where the given one is of NCCL.
        """
        self.rank, self.size = 0, 1
        self._group: Any = None
        if not dist.is_available() or not dist.is_initialized():
            return
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        if self.size > 1:
            self._group = dist.new_group(
                dist.get_process_group_ranks(group or dist.group.WORLD),
                timeout=datetime.timedelta(seconds=timeout_seconds),
                backend="gloo",
                use_local_synchronization=group is not None,
            )

    def allgather(self, value: Any) -> list[Any]:
        """The value of every rank, in order of rank. For small values, before an exchange or after it."""
        if self._group is None:
            return [value]
        values: list[Any] = [None] * self.size
        dist.all_gather_object(values, value, group=self._group)
        return values

    def start_send(self, peer: int, data: torch.Tensor) -> Transfer:
        with _naming(peer):
            return Transfer(peer, dist.isend(data, group=self._group, group_dst=peer))

    def start_receive(self, peer: int, into: torch.Tensor) -> Transfer:
        with _naming(peer):
            return Transfer(peer, dist.irecv(into, group=self._group, group_src=peer))

    def told(self) -> Peers:
        """For a process that only has to know who it belongs to."""
        other = Peers.__new__(Peers)
        other.rank, other.size, other._group = self.rank, self.size, None
        return other

    def close(self) -> None:
        if self._group is not None and dist.is_initialized():
            dist.destroy_process_group(self._group)
        self._group = None


class Transfer:
    """Bytes under way; they must not be touched before `wait` returns."""

    def __init__(self, peer: int, work: Any) -> None:
        self._peer = peer
        self._work = work

    def wait(self) -> None:
        """`PeerLost` where the other side is gone, or does not move for as long as the group's timeout."""
        with _naming(self._peer):
            self._work.wait()


@contextmanager
def _naming(peer: int) -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise PeerLost(*_to_blame(peer, error)) from error


def _to_blame(peer: int, error: RuntimeError) -> tuple[int, str]:
    """A peer that goes because it lost another one says so first: then that one is to be named."""
    said = str(error).splitlines()[0].rpartition("] ")[2]
    store = dist.distributed_c10d._get_default_store()
    try:
        first = store.compare_set(_LOST, "", str(peer)).decode()
    except (RuntimeError, dist.DistError):
        return peer, said  # the rank that holds the store is the one that is gone
    return int(first), said
