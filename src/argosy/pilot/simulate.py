"""The pilot's own schedule under a simulated clock: how full a machine of any size would be, and how fast we decide."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random

from argosy.pilot.protocol import Event, Finish, Outcome, RankEnded, RankJoined, Start, Submitted
from argosy.pilot.schedule import Schedule
from argosy.pilot.task import State, Task
from argosy.resources import Allocation, Need, Node, Slots

_MEDIAN_SECONDS = 60.0
_SPREAD = 1.2
"""Standard deviation of the logarithm of a duration: the longest of 100,000 tasks runs about 170 medians."""
_WAVES = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulationResult:
    """What came out. The clock and the durations are simulated; how fast the schedule decided is measured."""

    nodes: int
    ranks_per_node: int
    tasks: int
    seed: int
    makespan_seconds: float
    """Simulated: from the first submission to the last end."""
    utilisation: float
    """Simulated: rank-seconds that tasks ran, over those that there were until the last end."""
    mean_wait_seconds: float
    """Simulated: from submission to start."""
    placements: int
    setup_seconds: float
    """Measured: making the schedule and having all ranks join."""
    wall_seconds: float
    """Measured: everything else, the simulated clock included."""

    @property
    def placements_per_second(self) -> float:
        """Measured."""
        return self.placements / self.wall_seconds


@dataclass(frozen=True, slots=True)
class Job:
    """One task of a made-up workload."""

    submitted: float
    seconds: float
    task: Task


def workload(nodes: int, ranks_per_node: int, tasks: int, seed: int) -> list[Job]:
    """Tasks in the order of their submission: most of one rank, some of a node, a few of many; a tenth are urgent.

    Durations are log-normal. Half of the tasks come at the start, the others in waves while the machine is busy.
    """
    random = Random(seed)
    largest = max(min(nodes // 10, 16), 1)
    needs: dict[int, Need] = {}
    jobs: list[Job] = []
    sizes = []
    for _ in range(tasks):
        kind = random.random()
        if kind < 0.75:
            ranks = 1
        elif kind < 0.95:
            ranks = random.choice((2, 4, 8))
        elif kind < 0.99:
            ranks = ranks_per_node
        else:
            ranks = ranks_per_node * random.randint(1, largest)
        sizes.append(min(ranks, nodes * ranks_per_node))
    seconds = [random.lognormvariate(0, _SPREAD) * _MEDIAN_SECONDS for _ in range(tasks)]
    busy = sum(size * length for size, length in zip(sizes, seconds, strict=True)) / (nodes * ranks_per_node)
    for number, (size, length) in enumerate(zip(sizes, seconds, strict=True)):
        wave = max(2 * number - tasks, 0) * _WAVES // tasks
        need = needs.setdefault(size, Need(ranks=size))
        task = Task(id=number, need=need, priority=1 if random.random() < 0.1 else 0)
        jobs.append(Job(busy * wave / _WAVES, length, task))
    return jobs


def simulate(nodes: int, ranks_per_node: int, tasks: int, seed: int = 0) -> SimulationResult:
    """Run a made-up workload on an idle machine of this size. The same arguments give the same simulated figures."""
    jobs = workload(nodes, ranks_per_node, tasks, seed)
    began = time.perf_counter()
    machine = tuple(Node(name=f"node{i}", ranks=ranks_per_node, cores=ranks_per_node) for i in range(nodes))
    allocation = Allocation(nodes=machine)
    schedule = Schedule(allocation)
    schedule.handle(RankJoined(0.0, rank) for rank in range(allocation.num_ranks))
    ready = time.perf_counter()
    makespan, waited, placements = _run(schedule, jobs)
    ended = time.perf_counter()
    used = sum(job.seconds * job.task.need.ranks for job in jobs)
    return SimulationResult(
        nodes=nodes,
        ranks_per_node=ranks_per_node,
        tasks=tasks,
        seed=seed,
        makespan_seconds=makespan,
        utilisation=used / (makespan * allocation.num_ranks) if makespan else 0.0,
        mean_wait_seconds=waited / max(tasks, 1),
        placements=placements,
        setup_seconds=ready - began,
        wall_seconds=ended - ready,
    )


def _run(schedule: Schedule, jobs: list[Job]) -> tuple[float, float, int]:
    """Simulate until all tasks are done. The end of the last one, the sum of the waits, how many were started."""
    ends: list[tuple[float, int, int, Slots]] = []
    now = waited = 0.0
    placements = finished = 0
    next_job = 0
    while finished < len(jobs):
        arrival = jobs[next_job].submitted if next_job < len(jobs) else float("inf")
        events: list[Event] = []
        if ends and ends[0][0] <= arrival:
            now, task, attempt, slots = heappop(ends)
            events.extend(_leave(now, task, attempt, slots))
        else:
            now = arrival
            while next_job < len(jobs) and jobs[next_job].submitted == now:
                events.append(Submitted(now, jobs[next_job].task))
                next_job += 1
        for instruction in schedule.handle(events):
            if type(instruction) is Start:
                job = jobs[instruction.task]
                heappush(ends, (now + job.seconds, instruction.task, instruction.attempt, instruction.slots))
                waited += now - job.submitted
                placements += 1
            elif type(instruction) is Finish:
                assert instruction.state is State.DONE, instruction
                finished += 1
    return now, waited, placements


def _leave(now: float, task: int, attempt: int, slots: Slots) -> Iterator[Event]:
    return (RankEnded(now, task, attempt, rank, Outcome.RETURNED) for rank in slots.ranks)
