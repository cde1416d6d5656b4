"""What moves rows between ranks: one small interface over MPI, over threads, and over nothing (one rank alone)."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]


class Exchange(Protocol):
    """An exchange that is under way. Its buffers must not be touched before `wait` returns."""

    def wait(self) -> None: ...


class Ranks(Protocol):
    """Ranks that call the same methods in the same order."""

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    def allgather(self, value: Any) -> list[Any]:
        """The value of every rank, in order of rank. For small values."""

    def alltoall_rows(self, send: NDArray[np.int64]) -> NDArray[np.int64]:
        """Row r goes to rank r; row r of the result came from rank r. All rows have the same length."""

    def start_exchange(self, send: Bytes, send_at: Offsets, receive: Bytes, receive_at: Offsets) -> Exchange:
        """Bytes `send_at[r]:send_at[r + 1]` go to rank r, and those from r arrive at `receive_at[r]:receive_at[r + 1]`.

        What a rank would send to itself is left alone. `send` and `receive` may be one buffer.
        """


class _Done:
    def wait(self) -> None:
        pass


class Alone:
    """One rank."""

    rank = 0
    size = 1

    def allgather(self, value: Any) -> list[Any]:
        return [value]

    def alltoall_rows(self, send: NDArray[np.int64]) -> NDArray[np.int64]:
        return send

    def start_exchange(self, *_buffers: Bytes | Offsets) -> Exchange:
        return _Done()


def ranks_of(comm: Any) -> Ranks:
    """The ranks of an mpi4py communicator, of `None` (this process alone), or of what already are ranks."""
    if comm is None:
        return Alone()
    if hasattr(comm, "start_exchange"):
        ranks: Ranks = comm
        return ranks
    if not type(comm).__module__.startswith("mpi4py"):
        raise TypeError(f"comm must be an mpi4py communicator, not {type(comm).__qualname__}")
    from argosy.comm.over_mpi import ranks_over  # whoever has a communicator has loaded MPI

    return ranks_over(comm)
