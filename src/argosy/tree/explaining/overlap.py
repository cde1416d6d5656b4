"""Intervals of time that overlap. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from heapq import heappop, heappush

Interval = tuple[float, float]


def overlapped(intervals: Sequence[Interval]) -> list[float]:
    """For each interval, how much of it lies inside of others."""
    edges = sorted([(start, 1) for start, _ in intervals] + [(end, -1) for _, end in intervals])
    times, several = [0.0], [0.0]
    running, before = 0, edges[0][0] if edges else 0.0
    for time, step in edges:
        several.append(several[-1] + (time - before if running > 1 else 0.0))
        times.append(time)
        running, before = running + step, time

    def until(time: float) -> float:
        return several[bisect_right(times, time) - 1]

    return [until(end) - until(start) for start, end in intervals]


def packed(intervals: Sequence[Interval]) -> list[int]:
    """As few lanes as hold them all, where those of one lane do not overlap."""
    lanes = [0] * len(intervals)
    busy: list[tuple[float, int]] = []
    free: list[int] = []
    used = 0
    for number in sorted(range(len(intervals)), key=lambda number: intervals[number]):
        start, end = intervals[number]
        while busy and busy[0][0] <= start:
            heappush(free, heappop(busy)[1])
        if free:
            lanes[number] = heappop(free)
        else:
            lanes[number], used = used, used + 1
        heappush(busy, (end, lanes[number]))
    return lanes
