"""When to look again: the ends of timeouts and of the grace that ranks get to leave."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush


class Deadlines:
    """Times at which an attempt must be looked at. One that is over by then is skipped; few of these are stored."""

    def __init__(self, is_running: Callable[[int, int], bool]) -> None:
        """`is_running` says whether this attempt of this task still runs."""
        self._heap: list[tuple[float, int, int]] = []
        self._is_running = is_running
        self._limit = 1024

    def add(self, time: float, task: int, attempt: int) -> None:
        heappush(self._heap, (time, task, attempt))
        if len(self._heap) > self._limit:
            self._heap = [entry for entry in self._heap if self._is_running(entry[1], entry[2])]
            heapify(self._heap)
            self._limit = 2 * len(self._heap) + 1024

    @property
    def next(self) -> float | None:
        while self._heap and not self._is_running(*self._heap[0][1:]):
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now: float) -> list[int]:
        """The tasks whose running attempt has a deadline that has come."""
        due = []
        while (time := self.next) is not None and time <= now:
            due.append(heappop(self._heap)[1])
        return due
