"""N ranks as N threads of one process: for properties that must hold on any number of ranks, without starting MPI."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy.comm.ranks import Bytes, Exchange, Offsets

_PATIENCE_SECONDS = 50.0
"""A rank that waits longer for the others will wait forever."""


class _Meeting:
    """Where the threads leave things for one another."""

    def __init__(self, size: int) -> None:
        self.barrier = threading.Barrier(size, timeout=_PATIENCE_SECONDS)
        self.left: list[Any] = [None] * size


class _Collect:
    def __init__(self, ranks: OverThreads, send: Bytes, send_at: Offsets, receive: Bytes, receive_at: Offsets) -> None:
        self._args = ranks, send, send_at, receive, receive_at

    def wait(self) -> None:
        ranks, send, send_at, receive, receive_at = self._args
        for peer, (theirs, at) in enumerate(ranks.allgather((send, send_at))):
            if peer == ranks.rank:
                continue
            start, stop = at[ranks.rank], at[ranks.rank + 1]
            if stop - start != receive_at[peer + 1] - receive_at[peer]:
                raise AssertionError(f"rank {peer} sends {stop - start} bytes to {ranks.rank}, which expects others")
            receive[receive_at[peer] : receive_at[peer + 1]] = theirs[start:stop]
        ranks.allgather(None)


class OverThreads:
    def __init__(self, rank: int, meeting: _Meeting) -> None:
        self.rank = rank
        self.size = len(meeting.left)
        self._meeting = meeting

    def allgather(self, value: Any) -> list[Any]:
        meeting = self._meeting
        meeting.left[self.rank] = value
        meeting.barrier.wait()
        values = list(meeting.left)
        meeting.barrier.wait()
        return values

    def alltoall_rows(self, send: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.stack([rows[self.rank] for rows in self.allgather(send)])

    def start_exchange(self, send: Bytes, send_at: Offsets, receive: Bytes, receive_at: Offsets) -> Exchange:
        return _Collect(self, send, send_at, receive, receive_at)


def on_threads(num_ranks: int, function: Callable[..., Any], *args: Any) -> list[Any]:
    """`function(ranks, *args)` on every rank; the results in order of rank. The first failure is raised."""
    meeting = _Meeting(num_ranks)

    def run(rank: int) -> Any:
        try:
            return function(OverThreads(rank, meeting), *args)
        except BaseException:
            meeting.barrier.abort()
            raise

    with ThreadPoolExecutor(num_ranks) as pool:
        futures = [pool.submit(run, rank) for rank in range(num_ranks)]
    errors = [error for future in futures if (error := future.exception()) is not None]
    real = [error for error in errors if not isinstance(error, threading.BrokenBarrierError)]
    if errors:
        raise (real or errors)[0]
    return [future.result() for future in futures]
