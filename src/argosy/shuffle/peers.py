"""The ranks among which samples are exchanged: a process group of their own, so that nothing else waits for them."""

from __future__ import annotations

import atexit
import datetime
import socket
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch
import torch.distributed as dist

from argosy.comm.ranks import Ranks, ranks_of
from argosy.errors import PeerLost, ShuffleError
from argosy.shuffle.gathering import Gathering, tell_over
from argosy.shuffle.seal import Seal, fresh_key, key_of_peers

_LOST = "argosy/lost"
_NEVER = 1
"""The tag of what nobody sends."""


class Peers:
    """This process and its peers. Without a process group it is alone."""

    _allgather: Callable[[Any], list[Any]]
    seal: Seal
    """Of what they pickle for one another."""

    def __init__(self, group: Any = None, *, timeout_seconds: float = 1800.0, seal: Seal | None = None) -> None:
        """A collective of the group's ranks. `group`: a process group of torch or a communicator of mpi4py; None for
        all ranks of torch.distributed, where it is in use. `seal`: one that they share already.

        Samples lie in the memory of the host, so their group is a gloo group, also where the given one is of NCCL.
        """
        _open.add(self)
        self.rank, self.size = 0, 1
        self.seal = seal or Seal(fresh_key())
        self._given = seal
        self._group: Any = None
        self._store: Any = None
        timeout = datetime.timedelta(seconds=timeout_seconds)
        if type(group).__module__.startswith("mpi4py"):
            self._join(ranks_of(group), timeout)
        elif dist.is_available() and dist.is_initialized():
            self._branch_off(group, timeout)

    def _join(self, ranks: Ranks, timeout: datetime.timedelta) -> None:
        self.rank, self.size = ranks.rank, ranks.size
        if self.size > 1:
            self.seal = seal_of(ranks)
            self._store = store_on(ranks)
            self._group = dist.ProcessGroupGloo(self._store, self.rank, self.size, timeout)
            self._allgather = Gathering(self._group, self.rank, self.size, self.seal).allgather

    def _branch_off(self, group: Any, timeout: datetime.timedelta) -> None:
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        if self.size > 1:
            members = dist.get_process_group_ranks(group or dist.group.WORLD)
            self._store = dist.distributed_c10d._get_default_store()
            made = (
                self._among(members, timeout) if group is not None else dist.new_group(timeout=timeout, backend="gloo")
            )
            self._group = made
            if self._given is None:
                self.seal = Seal(key_of_peers(self.rank, tell_over(made, self.size)))
            self._allgather = Gathering(made, self.rank, self.size, self.seal).allgather

    def _among(self, members: list[int], timeout: datetime.timedelta) -> Any:
        """Without the other ranks, who do not call. Torch would give the group a name that one before it had, under
        which the store still has the addresses of that one."""
        name = "-".join(map(str, members))
        number = self._store.add(f"argosy/{name}/{self.rank}", 1)  # all of them count alike
        store = dist.PrefixStore(f"argosy/{name}/group-{number}", self._store)
        return dist.ProcessGroupGloo(store, self.rank, self.size, timeout)

    def allgather(self, value: Any) -> list[Any]:
        """The value of every rank, in order of rank. For small values, before an exchange or after it."""
        if self.size == 1:
            return [value]
        if self._group is None:
            raise ShuffleError("this exchange is closed; make a new one")
        return self._allgather(value)

    def start_send(self, peer: int, data: torch.Tensor) -> Transfer:
        with self._naming(peer):
            return Transfer(self._group.send([data], peer, 0), self._naming(peer))

    def start_receive(self, peer: int, into: torch.Tensor) -> Transfer:
        with self._naming(peer):
            return Transfer(self._group.recv([into], peer, 0), self._naming(peer))

    def interrupt(self) -> None:
        """Whoever waits for a transfer, on this rank or another, raises. There is no way on from here."""
        if self._group is not None:
            self._store = None  # nobody is to blame for what comes now
            cut_off(self._group, self.rank, self.size)

    def told(self) -> Peers:
        """For a process that only has to know who it belongs to."""
        other = Peers.alone()
        other.rank, other.size = self.rank, self.size
        return other

    @classmethod
    def alone(cls) -> Peers:
        """One rank, also in a program of several."""
        peers = cls.__new__(cls)
        peers.rank, peers.size, peers._group, peers._store = 0, 1, None, None
        return peers

    def close(self) -> None:
        if self._group is not None and isinstance(self._group, dist.ProcessGroup) and dist.is_initialized():
            dist.destroy_process_group(self._group)
        self._group = self._store = None

    @contextmanager
    def _naming(self, peer: int) -> Iterator[None]:
        """`PeerLost` for what gloo says of a connection that is gone, or on which nothing moves."""
        try:
            yield
        except RuntimeError as error:
            said = str(error).splitlines()[0].rpartition("] ")[2]
            raise PeerLost(self._to_blame(peer), said) from error

    def _to_blame(self, peer: int) -> int:
        """A peer that goes because it lost another one says so first: then that one is to be named."""
        if self._store is None:
            return peer
        try:
            return int(self._store.compare_set(_LOST, "", str(peer)).decode())
        except (RuntimeError, dist.DistError):
            return peer  # the rank that holds the store is the one that is gone


_open: weakref.WeakSet[Peers] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Connections must not outlive the interpreter. Exchanges have been closed before."""
    for peers in list(_open):
        peers.close()


class Transfer:
    """Bytes under way; they must not be touched before `wait` returns."""

    def __init__(self, work: Any, naming: Any) -> None:
        self._work = work
        self._naming = naming

    def wait(self) -> None:
        """`PeerLost` where the other side is gone, or does not move for as long as the group's timeout."""
        with self._naming:
            self._work.wait()


def cut_off(group: Any, rank: int, size: int) -> None:
    """End all connections of a gloo group: whoever waits in it raises, on this rank and on the others.

    gloo has no call for that, but lets go of all connections when a transfer takes longer than it may.
    """
    for peer in range(size):
        if peer != rank:
            with suppress(RuntimeError):  # that it took too long, or that this one has gone before
                never = group.recv([torch.empty(1, dtype=torch.uint8)], peer, _NEVER)
                never.wait(datetime.timedelta(milliseconds=1))


def seal_of(ranks: Ranks) -> Seal:
    """One that nobody else has: MPI, over which it goes, knows who the ranks are. A collective."""
    return Seal(ranks.allgather(fresh_key() if ranks.rank == 0 else None)[0])


def store_on(ranks: Ranks) -> Any:
    """A store of torch that rank 0 holds for all. A collective.

    It asks nobody who they are: what is read from it are addresses and words, never a pickle. On one machine it listens
    to that machine alone.
    """
    hosts = ranks.allgather(socket.gethostname())
    host = "127.0.0.1" if len(set(hosts)) == 1 else hosts[0]
    if ranks.rank == 0:
        local = socket.create_server((host, 0), backlog=1024) if host == "127.0.0.1" else None
        store = dist.TCPStore(
            host,
            0 if local is None else local.getsockname()[1],
            ranks.size,
            is_master=True,
            wait_for_workers=False,
            master_listen_fd=None if local is None else local.detach(),  # which the store closes
        )
        ranks.allgather(store.port)
        return store
    port = ranks.allgather(None)[0]
    return dist.TCPStore(host, port, ranks.size, is_master=False)
