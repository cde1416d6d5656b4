"""The pilot's own schedule under a simulated clock: how full a machine of any size would be, and how fast we decide."""

from __future__ import annotations

import time
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random

from argosy.pilot.protocol import Event, Finish, Outcome, RankEnded, RankJoined, Start, Submitted
from argosy.pilot.schedule import Schedule
from argosy.pilot.task import State, Task
from argosy.resources import Allocation, Need, Node, Slots

_MEDIAN_SECONDS = 60.0
_SPREAD = 1.0
"""Standard deviation of the logarithm of a duration: the longest of 100,000 tasks runs about 70 medians."""
_WAVES = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulationResult:
    """What came out. Durations and clock are simulated; how fast the schedule decided is measured."""

    nodes: int
    ranks_per_node: int
    tasks: int
    seed: int
    makespan_seconds: float
    """Simulated: from the first submission to the last end."""
    last_start_seconds: float
    """Simulated: from the first submission to the last start. After that, only the longest tasks run on."""
    utilisation: float
    """Simulated: the share of the ranks' time in which tasks ran, until the last end."""
    utilisation_until_last_start: float
    """Simulated: the same while there were tasks to start."""
    mean_wait_seconds: float
    """Simulated: from submission to start."""
    placements: int
    setup_seconds: float
    """Measured: making the schedule and having all ranks join."""
    wall_seconds: float
    """Measured: all events and decisions, with the simulated clock around them."""
    placements_per_second: float
    """Measured: placements over wall seconds."""


@dataclass(frozen=True, slots=True)
class Job:
    """One task of a made-up workload."""

    submitted: float
    seconds: float
    task: Task


def workload(nodes: int, ranks_per_node: int, tasks: int, seed: int) -> list[Job]:
    """Tasks in the order of their submission. Of 100, 75 have 1 rank, 18 a few, 6 a node, 1 several; 10 are urgent.

    Durations are log-normal. Four fifths come at the start, the others in waves while the machine is busy.
    """
    random = Random(seed)
    sizes = [_size(random, nodes, ranks_per_node) for _ in range(tasks)]
    seconds = [_MEDIAN_SECONDS * random.lognormvariate(0, _SPREAD) for _ in range(tasks)]
    busy = sum(map(lambda size, length: size * length, sizes, seconds)) / (nodes * ranks_per_node)
    needs = {size: Need(ranks=size) for size in set(sizes)}
    jobs = []
    for number, (size, length) in enumerate(zip(sizes, seconds, strict=True)):
        wave = max(5 * number - 4 * tasks, 0) * _WAVES // tasks
        task = Task(id=number, need=needs[size], priority=int(random.random() < 0.1))
        jobs.append(Job(busy * wave / _WAVES, length, task))
    return jobs


def _size(random: Random, nodes: int, ranks_per_node: int) -> int:
    kind = random.random()
    if kind < 0.75:
        return 1
    if kind < 0.93:
        return min(random.choice((2, 4, 8)), nodes * ranks_per_node)
    return ranks_per_node * (1 if kind < 0.99 else random.randint(1, min(8, nodes)))


def simulate(nodes: int, ranks_per_node: int, tasks: int, seed: int = 0) -> SimulationResult:
    """Run a made-up workload on an idle machine of this size. The same arguments give the same simulated figures."""
    jobs = workload(nodes, ranks_per_node, tasks, seed)
    began = time.perf_counter()
    machine = tuple(Node(name=f"node{i}", ranks=ranks_per_node, cores=ranks_per_node) for i in range(nodes))
    schedule = Schedule(Allocation(nodes=machine))
    schedule.handle([RankJoined(0.0, rank) for rank in range(nodes * ranks_per_node)])
    ready = time.perf_counter()
    starts, placements = _run(schedule, jobs)
    ended = time.perf_counter()
    runs = [(start, start + job.seconds, job.task.need.ranks) for start, job in zip(starts, jobs, strict=True)]
    last_start, last_end = max(starts, default=0.0), max((end for _, end, _ in runs), default=0.0)

    def utilisation(until: float) -> float:
        used = sum((min(end, until) - start) * ranks for start, end, ranks in runs)
        return used / (until * nodes * ranks_per_node) if until else 0.0

    return SimulationResult(
        nodes=nodes,
        ranks_per_node=ranks_per_node,
        tasks=tasks,
        seed=seed,
        makespan_seconds=last_end,
        last_start_seconds=last_start,
        utilisation=utilisation(last_end),
        utilisation_until_last_start=utilisation(last_start),
        mean_wait_seconds=sum(start - job.submitted for start, job in zip(starts, jobs, strict=True)) / max(tasks, 1),
        placements=placements,
        setup_seconds=ready - began,
        wall_seconds=ended - ready,
        placements_per_second=placements / (ended - ready),
    )


def _run(schedule: Schedule, jobs: list[Job]) -> tuple[list[float], int]:
    """Let the clock run until all tasks are done. When each was started, and how many starts there were."""
    ends: list[tuple[float, int, int, Slots]] = []
    starts = [0.0] * len(jobs)
    placements = finished = arrived = 0
    while finished < len(jobs):
        arrival = jobs[arrived].submitted if arrived < len(jobs) else float("inf")
        events: list[Event]
        if ends and ends[0][0] <= arrival:
            now, task, attempt, slots = heappop(ends)
            events = [RankEnded(now, task, attempt, rank, Outcome.RETURNED) for rank in slots.ranks]
        else:
            now, events = arrival, []
            while arrived < len(jobs) and jobs[arrived].submitted == now:
                events.append(Submitted(now, jobs[arrived].task))
                arrived += 1
        for instruction in schedule.handle(events):
            if type(instruction) is Start:
                task = instruction.task
                starts[task] = now
                placements += 1
                heappush(ends, (now + jobs[task].seconds, task, instruction.attempt, instruction.slots))
            elif type(instruction) is Finish:
                assert instruction.state is State.DONE, instruction
                finished += 1
    return starts, placements
