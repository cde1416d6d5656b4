"""Ranks of an MPI communicator."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from argosy.comm.ranks import Alone, Bytes, Exchange, Offsets, Ranks
from argosy.comm.two_level import TwoLevel, choose_groups

_TAG = 7_310
TWO_LEVELS_FROM = 64
"""From so many ranks on, an exchange goes through groups: fewer messages, one more copy."""
_CHUNK_NBYTES = 1 << 30
"""MPI counts are 32 bits wide; larger messages go in pieces."""


def ranks_over(comm: MPI.Comm) -> Ranks:
    """The ranks of a communicator. Many of them exchange in two steps."""
    if comm.size == 1:
        return Alone()
    ranks = OverMPI(comm)
    if ranks.size < TWO_LEVELS_FROM:
        return ranks
    return TwoLevel(ranks, choose_groups(ranks.allgather(MPI.Get_processor_name())))


class OverMPI:
    def __init__(self, comm: MPI.Comm) -> None:
        self._comm = comm
        self.rank = comm.rank
        self.size = comm.size

    def allgather(self, value: Any) -> list[Any]:
        return self._comm.allgather(value)

    def alltoall_rows(self, send: NDArray[np.int64]) -> NDArray[np.int64]:
        receive = np.empty_like(send)
        self._comm.Alltoall(send, receive)
        return receive

    def start_exchange(self, send: Bytes, send_at: Offsets, receive: Bytes, receive_at: Offsets) -> Exchange:
        requests: list[MPI.Request] = []
        for step in range(1, self.size):
            peer = (self.rank - step) % self.size
            pieces = _pieces(receive, int(receive_at[peer]), int(receive_at[peer + 1]))
            requests.extend(self._comm.Irecv([piece, MPI.BYTE], peer, _TAG) for piece in pieces)
        for step in range(1, self.size):
            peer = (self.rank + step) % self.size
            pieces = _pieces(send, int(send_at[peer]), int(send_at[peer + 1]))
            requests.extend(self._comm.Isend([piece, MPI.BYTE], peer, _TAG) for piece in pieces)
        return _Pending(requests)


class _Pending:
    def __init__(self, requests: list[MPI.Request]) -> None:
        self._requests = requests

    def wait(self) -> None:
        MPI.Request.Waitall(self._requests)
        self._requests = []


def _pieces(buffer: Bytes, start: int, stop: int) -> list[Bytes]:
    return [buffer[at : min(at + _CHUNK_NBYTES, stop)] for at in range(start, stop, _CHUNK_NBYTES)]
