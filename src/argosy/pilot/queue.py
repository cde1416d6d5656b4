"""Who is next: tasks in the order of priority and arrival, in lines of equal needs.

Tasks of one line need the same, so when the first of a line cannot start, no other of it can: a look at the queue costs
as much as there are lines, not tasks.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from heapq import heappop, heappush

from argosy.pilot.shape import Shape, shape_of
from argosy.resources import Need

Key = tuple[int, int]
"""Minus the priority, then the id: the smallest goes first."""


class Line:
    """Tasks with the same need, on the same ranks if these are given."""

    __slots__ = ("heap", "need", "pinned", "ranks", "removed", "shape")

    def __init__(self, need: Need, pinned: tuple[int, ...] | None) -> None:
        self.need = need
        self.pinned = pinned
        self.ranks = need.ranks
        self.shape: Shape = shape_of(need)
        self.heap: list[Key] = []
        self.removed: set[int] = set()
        """Tasks that left the line but are still in the heap."""


class Queue:
    """All lines. `order` is sorted by the first task of each line."""

    def __init__(self) -> None:
        self.order: list[tuple[int, int, Line]] = []
        self._lines: dict[tuple[Need, tuple[int, ...] | None], Line] = {}
        self._line_of: dict[int, Line] = {}
        self.num_wide = 0
        """Lines of tasks with several cores for each rank."""

    def __len__(self) -> int:
        return len(self._line_of)

    def push(self, task: int, priority: int, need: Need, pinned: tuple[int, ...] | None) -> None:
        line = self._lines.get((need, pinned))
        if line is None:
            line = self._lines[need, pinned] = Line(need, pinned)
            self.num_wide += line.shape.cores > 1
        self._line_of[task] = line
        if task in line.removed:
            line.removed.remove(task)
            return
        key = (-priority, task)
        heap = line.heap
        if not heap or key < heap[0]:
            if heap:
                del self.order[bisect_left(self.order, heap[0])]
            insort(self.order, (*key, line))
        heappush(heap, key)

    def pop(self, at: int) -> int:
        """The first task of the line that stands there in the order. Its line moves back, never forward."""
        _, task, line = self.order[at]
        del self._line_of[task]
        heappop(line.heap)
        self._settle(line, at)
        return task

    def remove(self, task: int) -> None:
        line = self._line_of.pop(task)
        if line.heap[0][1] == task:
            at = bisect_left(self.order, line.heap[0])
            heappop(line.heap)
            self._settle(line, at)
            return
        line.removed.add(task)
        if 2 * len(line.removed) > len(line.heap):
            line.heap = sorted(key for key in line.heap if key[1] not in line.removed)
            line.removed.clear()

    def tasks(self, line: Line) -> list[int]:
        """The tasks of a line, first in line first."""
        return [task for _, task in sorted(line.heap) if task not in line.removed]

    def _settle(self, line: Line, at: int) -> None:
        """The first task of the line that stands at that place left: put the line where its next one belongs."""
        heap = line.heap
        while heap and heap[0][1] in line.removed:
            line.removed.remove(heappop(heap)[1])
        order = self.order
        if not heap:
            del order[at]
            del self._lines[line.need, line.pinned]
            self.num_wide -= line.shape.cores > 1
            return
        entry = (*heap[0], line)
        if at + 1 == len(order) or entry < order[at + 1]:
            order[at] = entry
        else:
            del order[at]
            insort(order, entry)
