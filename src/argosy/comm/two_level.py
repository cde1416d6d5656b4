"""Exchange in two steps, for many ranks: within a group, then between groups.

With groups of about sqrt(ranks) a rank sends to about 2 sqrt(ranks) others and not to all of them. What is meant for
rank d first goes to the member of the sender's own group that has d's place in it, and from there on to d.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy.comm.ranks import Bytes, Exchange, Offsets, Ranks


@dataclass(frozen=True)
class Groups:
    """Ranks in groups of neighbours: `first[g]` is the first rank of group g, and the last entry is all of them."""

    first: tuple[int, ...]

    def members(self, group: int) -> range:
        return range(self.first[group], self.first[group + 1])

    @property
    def num_groups(self) -> int:
        return len(self.first) - 1

    @cached_property
    def of_rank(self) -> list[int]:
        return [group for group in range(self.num_groups) for _ in self.members(group)]

    def via(self, group: int, to: int) -> int:
        """The member of a group through which it sends to a rank."""
        place = to - self.first[self.of_rank[to]]
        members = self.members(group)
        return members[place % len(members)]

    def handled_by(self, rank: int) -> list[int]:
        """The ranks that this one sends on to for its group."""
        group = self.of_rank[rank]
        return [to for to in range(self.first[-1]) if self.via(group, to) == rank]


def choose_groups(nodes: Sequence[str]) -> Groups:
    """By node where the ranks of each lie side by side and there are several of both; else about sqrt(ranks) each."""
    size = len(nodes)
    starts = [rank for rank in range(size) if rank == 0 or nodes[rank] != nodes[rank - 1]]
    if len(starts) == len(set(nodes)) and 1 < len(starts) <= size // 2:
        return Groups((*starts, size))
    step = max(isqrt(size - 1) + 1, 1)
    return Groups((*range(0, size, step), size))


class TwoLevel:
    """Ranks whose exchanges go through groups; all else is as below."""

    def __init__(self, below: Ranks, groups: Groups) -> None:
        self._below = below
        self._groups = groups
        self.rank = below.rank
        self.size = below.size

    def allgather(self, value: Any) -> list[Any]:
        return self._below.allgather(value)

    def alltoall_rows(self, send: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._below.alltoall_rows(send)

    def start_exchange(self, send: Bytes, send_at: Offsets, receive: Bytes, receive_at: Offsets) -> Exchange:
        return _Staged(self._below, self._groups, send, send_at, receive, receive_at)


class _Staged:
    """The first step begins at once, the second when somebody waits for it."""

    def __init__(
        self, below: Ranks, groups: Groups, send: Bytes, send_at: Offsets, receive: Bytes, receive_at: Offsets
    ) -> None:
        self._below, self._groups = below, groups
        self._receive, self._receive_at = receive, receive_at
        rank = below.rank
        group = groups.of_rank[rank]
        self._mates = groups.members(group)
        self._handled = groups.handled_by(rank)
        sizes = np.diff(send_at)
        sizes[rank] = 0
        headers = {mate: sizes[groups.handled_by(mate)] for mate in self._mates}
        announced = _Messages(below, {mate: header.view(np.uint8) for mate, header in headers.items()})
        parts = {
            mate: np.concatenate(
                [send[send_at[to] : send_at[to + 1]] if to != rank else send[:0] for to in groups.handled_by(mate)]
            )
            for mate in self._mates
        }
        self._sizes_from = announced.receive({mate: 8 * len(self._handled) for mate in self._mates})
        self._parts = parts

    def wait(self) -> None:
        rank = self._below.rank
        sizes = {mate: raw.view(np.int64) for mate, raw in self._sizes_from().items()}
        held = _Messages(self._below, self._parts).receive({mate: int(one.sum()) for mate, one in sizes.items()})()
        at = {mate: np.concatenate([[0], np.cumsum(one)]) for mate, one in sizes.items()}
        onward = {
            to: np.concatenate([held[mate][at[mate][place] : at[mate][place + 1]] for mate in self._mates])
            for place, to in enumerate(self._handled)
        }
        expected = np.diff(self._receive_at)
        expected[rank] = 0
        sources = {
            self._groups.via(group, rank): self._groups.members(group) for group in range(self._groups.num_groups)
        }
        arrived = _Messages(self._below, onward).receive(
            {via: int(expected[list(members)].sum()) for via, members in sources.items()}
        )()
        for via, members in sources.items():
            taken = 0
            for source in members:
                count = int(expected[source])
                start = int(self._receive_at[source])
                self._receive[start : start + count] = arrived[via][taken : taken + count]
                taken += count


class _Messages:
    """A buffer to each of some ranks, and one from each of some."""

    def __init__(self, below: Ranks, to: dict[int, Bytes]) -> None:
        self._below = below
        self._to = to

    def receive(self, nbytes: dict[int, int]) -> Any:
        """Starts; the returned function waits and gives the buffer from each rank."""
        size, rank = self._below.size, self._below.rank
        sent, received = np.zeros(size, np.int64), np.zeros(size, np.int64)
        for peer, buffer in self._to.items():
            sent[peer] = len(buffer)
        for peer, count in nbytes.items():
            received[peer] = count
        send_at, receive_at = np.append(0, np.cumsum(sent)), np.append(0, np.cumsum(received))
        buffers = [self._to[peer] for peer in sorted(self._to)]
        outgoing = np.concatenate(buffers) if buffers else np.empty(0, np.uint8)
        incoming = np.empty(int(receive_at[-1]), np.uint8)
        under_way = self._below.start_exchange(outgoing, send_at, incoming, receive_at)
        if received[rank]:
            incoming[receive_at[rank] : receive_at[rank + 1]] = self._to[rank]

        def finish() -> dict[int, Bytes]:
            under_way.wait()
            return {peer: incoming[receive_at[peer] : receive_at[peer + 1]] for peer in nbytes}

        return finish
