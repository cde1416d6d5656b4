"""Stretches of neighbouring nodes that are wholly free."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable


class Runs:
    """Nodes as maximal runs of consecutive indices. Adding or removing a node costs a few binary searches."""

    __slots__ = ("_end_of", "_lengths", "_starts", "_starts_of_length")

    def __init__(self, nodes: Iterable[int] = ()) -> None:
        self._starts: list[int] = []
        self._end_of: dict[int, int] = {}
        """The last node of the run that starts there."""
        self._lengths: list[int] = []
        self._starts_of_length: dict[int, list[int]] = {}
        start = end = -2
        for node in sorted(nodes):
            if node != end + 1:
                if start >= 0:
                    self._insert(start, end)
                start = node
            end = node
        if start >= 0:
            self._insert(start, end)

    def add(self, node: int) -> None:
        """The node, which was in no run, is free now: it joins its neighbours."""
        start = end = node
        at = bisect_left(self._starts, node)
        if at < len(self._starts) and self._starts[at] == node + 1:
            end = self._end_of[node + 1]
            self._delete(node + 1, end)
        if at and self._end_of[self._starts[at - 1]] == node - 1:
            start = self._starts[at - 1]
            self._delete(start, node - 1)
        self._insert(start, end)

    def remove(self, node: int) -> None:
        """The node is no longer free: its run ends before it and another begins after it."""
        start = self._starts[bisect_right(self._starts, node) - 1]
        end = self._end_of[start]
        self._delete(start, end)
        if start < node:
            self._insert(start, node - 1)
        if node < end:
            self._insert(node + 1, end)

    def choose(self, count: int) -> list[int]:
        """That many nodes in as few runs as can be: the shortest run that is long enough, else the longest ones first.

        The caller makes sure that there are so many. Nothing is removed.
        """
        at = bisect_left(self._lengths, count)
        if at < len(self._lengths):
            start = self._starts_of_length[self._lengths[at]][0]
            return list(range(start, start + count))
        chosen: list[int] = []
        for length in reversed(self._lengths):
            for start in self._starts_of_length[length]:
                take = min(length, count - len(chosen))
                chosen.extend(range(start, start + take))
                if len(chosen) == count:
                    return chosen
        raise ValueError(f"{count} free nodes asked, {len(chosen)} there")

    def _insert(self, start: int, end: int) -> None:
        insort(self._starts, start)
        self._end_of[start] = end
        length = end - start + 1
        starts = self._starts_of_length.get(length)
        if starts is None:
            self._starts_of_length[length] = [start]
            insort(self._lengths, length)
        else:
            insort(starts, start)

    def _delete(self, start: int, end: int) -> None:
        del self._starts[bisect_left(self._starts, start)]
        del self._end_of[start]
        length = end - start + 1
        starts = self._starts_of_length[length]
        del starts[bisect_left(starts, start)]
        if not starts:
            del self._starts_of_length[length]
            del self._lengths[bisect_left(self._lengths, length)]
