"""On which track of a picture each run lies: threads, and places to wait for a pilot."""

from __future__ import annotations

from collections.abc import Sequence

from argosy.tree.explaining.overlap import packed
from argosy.tree.explaining.record import NOT_RUN, PILOT, WAITED
from argosy.tree.explaining.running import Running


def lanes_of_runs(runs: Sequence[Running], caller: int) -> tuple[list[int], dict[int, int]]:
    """The lane of each run, and that of each thread: 0 for the calling one, then the others as they began.

    What waited for a pilot has lanes after those of the threads. A thread that had waited may go on with what follows:
    that lies in the lane of the wait, and is marked.
    """
    after = _after_waits(runs)
    threads = _threads(runs, after, caller)
    ends = {number: run.ended for number, run in enumerate(runs) if run.where == PILOT}
    for number, wait in after.items():
        ends[wait] = max(ends[wait], runs[number].ended)
    lanes = [threads.get(run.thread, 0) for run in runs]
    spans = [(runs[number].started, end) for number, end in ends.items()]
    for number, lane in zip(ends, packed(spans), strict=True):
        lanes[number] = len(threads) + lane
    for number, wait in after.items():
        lanes[number] = lanes[wait]
        runs[number].where = runs[number].where or WAITED
    return lanes, threads


def _after_waits(runs: Sequence[Running]) -> dict[int, int]:
    """Runs in threads that had waited for a pilot: after which wait. Numbers of threads are used again."""
    waits: dict[int, list[tuple[float, int]]] = {}
    for number, run in enumerate(runs):
        if run.where == PILOT:
            waits.setdefault(run.thread, []).append((run.started, number))
    found = {}
    for number, run in enumerate(runs):
        before = [wait for wait in waits.get(run.thread, []) if wait[0] <= run.started]
        if before and run.where != PILOT and run.state != NOT_RUN:
            found[number] = max(before)[1]
    return found


def _threads(runs: Sequence[Running], after: dict[int, int], caller: int) -> dict[int, int]:
    begun = [
        (run.started, run.thread)
        for number, run in enumerate(runs)
        if run.where != PILOT and run.state != NOT_RUN and number not in after
    ]
    begun += [(started, thread) for run in runs for thread, started, _ in run.parts]
    threads = {caller: 0}
    for _, thread in sorted(begun):
        threads.setdefault(thread, len(threads))
    return threads
