"""Who may go ahead of the first task in line."""

from __future__ import annotations

from collections import Counter, deque
from heapq import heappop, heappush
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.pilot.backfill import spare_ranks
from argosy.pilot.protocol import Event, Instruction, Outcome, RankEnded, RankJoined, Start, Submitted
from argosy.pilot.schedule import Schedule
from argosy.pilot.task import Task
from argosy.resources import Allocation, Need, Node

nodes = st.builds(
    Node,
    name=st.just("n"),
    ranks=st.integers(1, 4),
    cores=st.integers(2, 6),
    gpus=st.integers(0, 2),
    nbytes=st.integers(0, 8),
)
plain_nodes = st.builds(Node, name=st.just("n"), ranks=st.integers(1, 6), cores=st.just(6))
needs = st.builds(
    Need,
    ranks=st.integers(1, 5),
    cores_per_rank=st.sampled_from([1, 1, 1, 2]),
    gpus_per_rank=st.sampled_from([0, 0, 0, 0.5, 1]),
    nbytes_per_rank=st.sampled_from([0, 0, 0, 2]),
)
plain_needs = st.builds(Need, ranks=st.integers(1, 9))
durations = st.integers(1, 30)
workloads = st.lists(st.tuples(needs, durations), max_size=8)
plain_workloads = st.lists(st.tuples(plain_needs, durations), max_size=8)

Workload = list[tuple[Need, int]]


def run(allocation: Allocation, jobs: list[tuple[int, int, Task]]) -> dict[int, int]:
    """When each task starts; a job is the time of its submission, how long it runs, and the task."""
    schedule = Schedule(allocation)
    schedule.handle([RankJoined(0, rank) for rank in range(allocation.num_ranks)])
    ends: list[tuple[int, int, Start]] = []
    started: dict[int, int] = {}
    seconds = {task.id: length for _, length, task in jobs}
    arrivals = deque(jobs)
    while ends or arrivals:
        if arrivals and not (ends and ends[0][0] <= arrivals[0][0]):
            now, _, task = arrivals.popleft()
            events: list[Event] = [Submitted(now, task)]
        else:
            now, _, start = heappop(ends)
            events = [RankEnded(now, start.task, start.attempt, rank, Outcome.RETURNED) for rank in start.slots.ranks]
        for instruction in schedule.handle(events):
            if isinstance(instruction, Start):
                started[instruction.task] = now
                heappush(ends, (now + seconds[instruction.task], instruction.task, instruction))
    return started


def the_head_is_not_delayed(
    given_nodes: list[Node], kept: Need | None, running: Workload, head: Need, behind: Workload
) -> None:
    """A task may leave a value; then tasks start on the idle machine, then the head comes, then those behind it."""
    allocation = Allocation(nodes=tuple(given_nodes))
    jobs: list[tuple[int, int, Task]] = []
    on: tuple[int, ...] = ()
    if kept is not None and Schedule(allocation).can_ever_fit(kept) is None:
        on = (0,)
        jobs.append((0, 1, Task(id=0, need=kept, keep=True)))
        head = Need(ranks=kept.ranks, cores_per_rank=head.cores_per_rank, nbytes_per_rank=head.nbytes_per_rank)
    for need, length in running:
        task = Task(id=len(jobs), need=need)
        if run(allocation, [*jobs, (1, length, task)]).get(task.id) == 1:
            jobs.append((1, length, task))
    first = len(jobs)
    jobs.append((2, 1, Task(id=first, need=head, on=on, after=on)))
    alone = run(allocation, jobs)
    for need, length in behind:
        jobs.append((2, length, Task(id=len(jobs), need=need)))
    assert run(allocation, jobs).get(first) == alone.get(first)


@settings(max_examples=300, deadline=None)
@given(st.lists(plain_nodes, min_size=1, max_size=3), plain_workloads, plain_needs, plain_workloads)
def test_backfill_never_delays_the_first_task_in_line(
    given_nodes: list[Node], running: Workload, head: Need, behind: Workload
) -> None:
    the_head_is_not_delayed(given_nodes, None, running, head, behind)


@settings(max_examples=500, deadline=None)
@given(st.lists(nodes, min_size=1, max_size=3), workloads, needs, workloads)
def test_backfill_never_delays_the_first_task_in_line_for_cores_gpus_or_memory(
    given_nodes: list[Node], running: Workload, head: Need, behind: Workload
) -> None:
    the_head_is_not_delayed(given_nodes, None, running, head, behind)


@settings(max_examples=300, deadline=None)
@given(st.lists(nodes, min_size=1, max_size=3), needs, workloads, needs, workloads)
def test_backfill_never_delays_a_first_task_in_line_that_must_run_on_certain_ranks(
    given_nodes: list[Node], kept: Need, running: Workload, head: Need, behind: Workload
) -> None:
    the_head_is_not_delayed(given_nodes, kept, running, head, behind)


@given(st.lists(st.integers(1, 6), max_size=7), st.integers(0, 8), st.integers(1, 20))
def test_what_is_to_spare_is_exactly_what_no_set_of_ends_could_use(sizes: list[int], free: int, short: int) -> None:
    wanted = free + short

    def delays(taken: int) -> bool:
        """Whether after some ends the head would fit, but not with so many ranks taken."""
        sums = {sum(ending) for count in range(len(sizes) + 1) for ending in combinations(sizes, count)}
        return any(free + total >= wanted > free - taken + total for total in sums)

    expected = max(taken for taken in range(free + 1) if not delays(taken))
    assert spare_ranks([Counter(sizes)], free, wanted) == expected


def place_one_by_one(allocation: Allocation, *given_needs: Need) -> list[int]:
    """Submit tasks with these needs; say which started."""
    schedule = Schedule(allocation)
    schedule.handle([RankJoined(0, rank) for rank in range(allocation.num_ranks)])
    out: list[Instruction] = []
    for number, need in enumerate(given_needs):
        out += schedule.handle([Submitted(0, Task(id=number, need=need))])
    return [instruction.task for instruction in out if isinstance(instruction, Start)]


FOUR = Allocation(nodes=(Node(name="a", ranks=4, cores=4),))


def test_a_task_starts_on_ranks_that_are_to_spare() -> None:
    assert place_one_by_one(FOUR, Need(ranks=2), Need(ranks=3), Need(ranks=1)) == [0, 2]


def test_a_task_does_not_start_on_ranks_that_the_first_in_line_may_need() -> None:
    assert place_one_by_one(FOUR, Need(ranks=2), Need(ranks=3), Need(ranks=2)) == [0]
    assert place_one_by_one(FOUR, Need(ranks=1), Need(ranks=1), Need(ranks=3), Need(ranks=1)) == [0, 1]


def test_what_is_to_spare_is_spared_once() -> None:
    assert place_one_by_one(FOUR, Need(ranks=2), Need(ranks=3), Need(ranks=1), Need(ranks=1)) == [0, 2]


def test_ranks_of_a_gpu_node_that_gpu_tasks_cannot_use_are_to_spare() -> None:
    node = Allocation(nodes=(Node(name="a", ranks=4, cores=4, gpus=2),))
    gpu = Need(gpus_per_rank=1)
    assert place_one_by_one(node, gpu, gpu, gpu, Need(ranks=2)) == [0, 1]
    assert place_one_by_one(node, gpu, Need(ranks=2, gpus_per_rank=1), Need(ranks=1), Need(ranks=1)) == [0, 2]


def test_nodes_that_the_first_in_line_can_never_use_are_to_spare() -> None:
    mixed = Allocation(nodes=(Node(name="a", ranks=2, cores=2, gpus=1), Node(name="b", ranks=4, cores=4)))
    gpu = Need(gpus_per_rank=1)
    assert place_one_by_one(mixed, gpu, gpu, Need(ranks=4)) == [0, 2]


def test_a_part_of_a_gpu_that_the_first_in_line_needs_whole_is_not_to_spare() -> None:
    node = Allocation(nodes=(Node(name="a", ranks=8, cores=8, gpus=2),))
    whole, both, half = Need(gpus_per_rank=1), Need(ranks=2, gpus_per_rank=1), Need(gpus_per_rank=0.5)
    assert place_one_by_one(node, whole, both, half) == [0]


def test_memory_and_cores_that_the_first_in_line_needs_are_not_to_spare() -> None:
    node = Allocation(nodes=(Node(name="a", ranks=4, cores=4, nbytes=4),))
    assert place_one_by_one(node, Need(nbytes_per_rank=3), Need(nbytes_per_rank=4), Need(nbytes_per_rank=1)) == [0]
    assert place_one_by_one(node, Need(cores_per_rank=3), Need(ranks=4), Need()) == [0]
