"""Which nodes a task's ranks go to: as few nodes as possible, best fit on one, neighbours when it takes several."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from argosy.pilot.runs import Runs

Shares = list[tuple[int, int]]
"""How many ranks go to which node, in the order of the nodes."""


class Rooms:
    """Nodes by their room: how many ranks of one shape each can still take. Finding a node costs O(log nodes)."""

    __slots__ = ("_counts", "_heaps", "_members", "_rooms_there", "_runs", "room", "total", "whole")

    def __init__(self, room: Iterable[int], whole: int | None = None) -> None:
        """`whole` is the room of the largest node when it is wholly free."""
        self.room = list(room)
        self.total = sum(self.room)
        largest = max(self.room, default=0)
        self.whole = largest if whole is None else max(whole, largest)
        self._counts = [0] * (self.whole + 1)
        self._heaps: list[list[int]] = [[] for _ in range(self.whole + 1)]
        """Per room the nodes, lowest first, among them nodes that had that room once."""
        self._members: list[set[int]] = [set() for _ in range(self.whole + 1)]
        self._rooms_there = 0
        """A bit for each room that some node has."""
        self._runs: Runs | None = None
        for node, amount in enumerate(self.room):
            self._counts[amount] += 1
            if amount:
                self._heaps[amount].append(node)  # ascending, so it is a heap
                self._members[amount].add(node)
                self._rooms_there |= 1 << amount

    @property
    def largest(self) -> int:
        """The room of the node with the most of it."""
        return max(self._rooms_there.bit_length() - 1, 0)

    def count(self, room: int) -> int:
        """How many nodes have exactly this room."""
        return self._counts[room]

    @property
    def runs(self) -> Runs:
        """The wholly free among the largest nodes. Kept up to date from the first use on."""
        if self._runs is None:
            self._runs = Runs(node for node, amount in enumerate(self.room) if amount == self.whole)
        return self._runs

    def update(self, node: int, room: int) -> None:
        """The node now has this room."""
        before = self.room[node]
        if room == before:
            return
        self.room[node] = room
        self.total += room - before
        counts = self._counts
        counts[before] -= 1
        counts[room] += 1
        if not counts[before] and before:
            self._rooms_there ^= 1 << before
        if room:
            self._rooms_there |= 1 << room
            members = self._members[room]
            if node not in members:
                members.add(node)
                heappush(self._heaps[room], node)
        if self._runs is not None:
            if before == self.whole:
                self._runs.remove(node)
            elif room == self.whole:
                self._runs.add(node)

    def best_fit(self, num_ranks: int) -> int | None:
        """The node with the least room that is enough; among equals the first."""
        enough = self._rooms_there >> num_ranks
        if not enough:
            return None
        amount = num_ranks + (enough & -enough).bit_length() - 1
        heap = self._heaps[amount]
        while self.room[heap[0]] != amount:
            self._members[amount].discard(heappop(heap))
        return heap[0]


def place(rooms: Rooms, num_ranks: int) -> Shares | None:
    """The nodes for a task of so many ranks, or None when they do not fit now. The rooms are as before afterwards."""
    if rooms.total < num_ranks:
        return None
    node = rooms.best_fit(num_ranks)
    if node is not None:
        return [(node, num_ranks)]
    whole = rooms.whole
    full, rest = (num_ranks - 1) // whole, (num_ranks - 1) % whole + 1
    free = rooms.count(whole)
    if 0 < full <= free:
        last = rooms.best_fit(rest)
        assert last is not None, "at least one wholly free node has room for the rest"
        if rooms.room[last] < whole or free > full:
            return sorted(_neighbours(rooms, full, rest, last))
    return sorted(_largest_first(rooms, num_ranks))


def _neighbours(rooms: Rooms, full: int, rest: int, last: int) -> Shares:
    """Whole nodes side by side, and the rest next to them where there is room, else on the node that fits best."""
    whole = rooms.whole
    if rooms.room[last] == whole:
        *chosen, last = rooms.runs.choose(full + 1)
    else:
        chosen = rooms.runs.choose(full)
        beside = [node for node in (chosen[-1] + 1, chosen[0] - 1) if 0 <= node < len(rooms.room)]
        beside = [node for node in beside if rooms.room[node] >= rest and node not in chosen]
        last = min(beside, key=lambda node: rooms.room[node], default=last)
    return [*((node, whole) for node in chosen), (last, rest)]


def _largest_first(rooms: Rooms, num_ranks: int) -> Shares:
    """Fewest nodes when they differ: the most room first, and what is left on the node that fits it best."""
    shares: Shares = []
    before: list[tuple[int, int]] = []
    while num_ranks:
        node = rooms.best_fit(min(num_ranks, rooms.largest))
        assert node is not None
        room = rooms.room[node]
        take = min(room, num_ranks)
        shares.append((node, take))
        before.append((node, room))
        rooms.update(node, 0)
        num_ranks -= take
    for node, room in before:
        rooms.update(node, room)
    return shares
