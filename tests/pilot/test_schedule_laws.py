"""The laws of the schedule: whatever happens, in whatever order, against books that are kept in the simplest way."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from argosy.pilot.capacity import Capacity
from argosy.pilot.protocol import (
    CancelAsked,
    Drop,
    Event,
    Finish,
    Instruction,
    Outcome,
    RankEnded,
    RankGone,
    RankJoined,
    ReleaseAsked,
    Replace,
    Start,
    Stop,
    Submitted,
    Tick,
)
from argosy.pilot.schedule import Schedule
from argosy.pilot.task import State, Task
from argosy.resources import Allocation, Need, Node, Slots

GRACE = 2.0

nodes = st.builds(
    Node,
    name=st.just("n"),
    ranks=st.integers(1, 4),
    cores=st.integers(2, 6),
    gpus=st.integers(0, 2),
    nbytes=st.integers(0, 8),
)
needs = st.builds(
    Need,
    ranks=st.integers(1, 5),
    cores_per_rank=st.sampled_from([1, 1, 1, 2]),
    gpus_per_rank=st.sampled_from([0, 0, 0, 0.25, 0.5, 1, 2]),
    nbytes_per_rank=st.sampled_from([0, 0, 0, 1, 3]),
)


class _Run:
    """An attempt as the model sees it."""

    def __init__(self, attempt: int, slots: Slots, started: float) -> None:
        self.attempt, self.slots, self.started = attempt, slots, started
        self.left = set(slots.ranks)
        self.holds = set(slots.ranks)
        """Ranks that did not die in it."""
        self.stopped_at: float | None = None
        self.replaced: set[int] = set()


class ScheduleLaws(RuleBasedStateMachine):
    """Random events against books that are kept in the simplest way."""

    @initialize(given_nodes=st.lists(nodes, min_size=1, max_size=4), joined=st.sampled_from([0, 2, 99, 99, 99]))
    def begin(self, given_nodes: list[Node], joined: int) -> None:
        self.begin_with(given_nodes, joined)

    def begin_with(self, given_nodes: list[Node], joined: int) -> None:
        self.allocation = Allocation(nodes=tuple(given_nodes))
        self.node_of = self.allocation.node_of_each_rank()
        self.schedule = Schedule(self.allocation, grace_seconds=GRACE)
        self.now = 0.0
        self.recorded: list[tuple[list[Event], list[Instruction]]] = []
        self.tasks: dict[int, Task] = {}
        self.running: dict[int, _Run] = {}
        self.attempts: Counter[int] = Counter()
        self.finished: dict[int, Finish] = {}
        self.released: set[int] = set()
        self.present: set[int] = set()
        self.pieces: set[tuple[int, int]] = set()
        """Which task has left a value on which rank."""
        self.feed(*(RankJoined(0.0, rank) for rank in range(min(joined, len(self.node_of)))))

    def feed(self, *events: Event) -> list[Instruction]:
        self.sound = False
        for event in events:
            if isinstance(event, RankJoined):
                self.present.add(event.rank)
            elif isinstance(event, RankGone):
                self.present.discard(event.rank)
                self.pieces = {(task, rank) for task, rank in self.pieces if rank != event.rank}
                for run in self.running.values():
                    if event.rank in run.holds:
                        run.holds.discard(event.rank)
                        run.left.discard(event.rank)
            elif isinstance(event, RankEnded):
                run = self.running[event.task]
                run.left.discard(event.rank)
                if self.tasks[event.task].keep and event.outcome is Outcome.RETURNED:
                    self.pieces.add((event.task, event.rank))
            elif isinstance(event, Submitted):
                self.tasks[event.task.id] = event.task
        self.running = {task: run for task, run in self.running.items() if run.left}
        out = self.schedule.handle(list(events))
        self.recorded.append((list(events), out))
        for instruction in out:
            self.obey(instruction)
        self.sound = True
        return out

    def obey(self, instruction: Instruction) -> None:
        match instruction:
            case Start(task, attempt, slots):
                assert task not in self.running
                known = self.tasks[task]
                again = known.keep and task in self.finished and self.finished[task].state is State.DONE
                assert task not in self.finished or again
                assert attempt == self.attempts[task]
                self.attempts[task] += 1
                assert list(slots.ranks) == sorted(set(slots.ranks))
                assert len(slots.ranks) == known.need.ranks
                assert set(slots.ranks) <= self.present, "started on a rank that is not there"
                for dep in known.after:
                    assert self.finished[dep].state is State.DONE
                for dep in known.on:
                    assert {rank for owner, rank in self.pieces if owner == dep} == set(slots.ranks)
                self.running[task] = _Run(attempt, slots, self.now)
                self.check_books()
            case Stop(task, attempt, ranks):
                run = self.running[task]
                assert attempt == run.attempt
                assert run.stopped_at is None, "told to stop twice"
                assert set(ranks) == run.left
                run.stopped_at = self.now
            case Replace(rank):
                (run,) = (run for run in self.running.values() if rank in run.left)
                assert run.stopped_at is not None
                assert self.now >= run.stopped_at + GRACE
                assert rank not in run.replaced
                run.replaced.add(rank)
            case Drop(task, ranks):
                assert self.tasks[task].keep
                self.pieces -= {(task, rank) for rank in ranks}
            case Finish(task, state, _):
                assert task not in self.finished, "finished twice"
                assert task not in self.running
                assert state in (State.DONE, State.FAILED, State.CANCELLED)
                self.finished[task] = instruction

    def free(self) -> tuple[set[int], list[int], list[list[Fraction]], list[int]]:
        """Ranks, and per node cores, GPUs and bytes, that nobody has."""
        ranks = set(self.present)
        cores = [node.cores for node in self.allocation.nodes]
        gpus = [[Fraction(1)] * node.gpus for node in self.allocation.nodes]
        nbytes = [node.nbytes for node in self.allocation.nodes]
        for task, run in self.running.items():
            need = self.tasks[task].need
            assert bool(run.slots.gpus) == bool(need.gpus_per_rank)
            for at, rank in enumerate(run.slots.ranks):
                node = run.slots.nodes[at]
                assert self.node_of[rank] == node
                if rank not in run.holds:
                    continue
                assert rank in ranks, "a rank was given twice"
                ranks.discard(rank)
                cores[node] -= need.cores_per_rank
                nbytes[node] -= need.nbytes_per_rank
                if need.gpus_per_rank:
                    mine = run.slots.gpus[at]
                    assert len(set(mine)) == len(mine) == max(1, int(need.gpus_per_rank))
                    for gpu in mine:
                        gpus[node][gpu] -= min(Fraction(need.gpus_per_rank), Fraction(1))
        return ranks, cores, gpus, nbytes

    def check_books(self) -> None:
        _, cores, gpus, nbytes = self.free()
        assert min(cores) >= 0, "a core was given twice"
        assert min(nbytes) >= 0, "a byte was given twice"
        assert all(share >= 0 for node in gpus for share in node), "a GPU was given twice"

    def fits_now(self, need: Need, pinned: tuple[int, ...] | None) -> bool:
        ranks, cores, gpus, nbytes = self.free()
        if pinned is not None and not set(pinned) <= ranks:
            return False
        placed = 0
        for node in range(len(cores)):
            here = [rank for rank in (ranks if pinned is None else pinned) if self.node_of[rank] == node]
            for _ in here:
                whole = [gpu for gpu, share in enumerate(gpus[node]) if share == 1]
                some = sorted((share, gpu) for gpu, share in enumerate(gpus[node]) if share >= need.gpus_per_rank)
                if cores[node] < need.cores_per_rank or nbytes[node] < need.nbytes_per_rank:
                    break
                if need.gpus_per_rank >= 1:
                    if len(whole) < need.gpus_per_rank:
                        break
                    for gpu in whole[: int(need.gpus_per_rank)]:
                        gpus[node][gpu] = Fraction(0)
                elif need.gpus_per_rank:
                    if not some:
                        break
                    gpus[node][some[0][1]] -= Fraction(need.gpus_per_rank)
                cores[node] -= need.cores_per_rank
                nbytes[node] -= need.nbytes_per_rank
                placed += 1
        return placed >= need.ranks

    # What may happen

    @rule(
        data=st.data(),
        need=needs,
        priority=st.integers(0, 2),
        retries=st.integers(0, 2),
        retries_on_loss=st.integers(0, 2),
        keep=st.booleans(),
    )
    def submit(self, data: Any, need: Need, priority: int, retries: int, retries_on_loss: int, keep: bool) -> None:
        usable = [task for task in self.tasks if task not in self.released]
        kept = [task for task in usable if self.tasks[task].keep]
        after = data.draw(st.lists(st.sampled_from(usable), max_size=2)) if usable else []
        on = data.draw(st.lists(st.sampled_from(kept), max_size=2, unique=True)) if kept else []
        if on and data.draw(st.sampled_from([True, True, True, False])):
            need = Need(ranks=self.tasks[on[0]].need.ranks, cores_per_rank=need.cores_per_rank)
        task = Task(
            id=len(self.tasks),
            need=need,
            priority=priority,
            retries=retries,
            retries_on_loss=retries_on_loss,
            keep=keep,
            timeout_seconds=data.draw(st.sampled_from([None, None, 1.0, 5.0])),
            after=tuple(dict.fromkeys([*after, *on])),
            on=tuple(on),
        )
        self.feed(Submitted(self.now, task))

    @precondition(lambda self: self.values())
    @rule(data=st.data(), need=needs, keep=st.booleans(), priority=st.integers(0, 2))
    def submit_on_a_value(self, data: Any, need: Need, keep: bool, priority: int) -> None:
        on = data.draw(st.sampled_from(self.values()))
        need = replace(need, ranks=self.tasks[on].need.ranks)
        task = Task(id=len(self.tasks), need=need, keep=keep, priority=priority, after=(on,), on=(on,))
        self.feed(Submitted(self.now, task))

    @precondition(lambda self: self.values())
    @rule(data=st.data(), returns=st.booleans())
    def a_rank_with_a_value_dies(self, data: Any, returns: bool) -> None:
        ranks = sorted({rank for _, rank in self.pieces})
        if ranks:
            self.feed(RankGone(self.now, data.draw(st.sampled_from(ranks)), returns))

    def values(self) -> list[int]:
        """Kept tasks that are done and not released."""
        done = (task for task, finish in self.finished.items() if finish.state is State.DONE)
        return [task for task in done if self.tasks[task].keep and task not in self.released]

    @precondition(lambda self: self.running)
    @rule(data=st.data(), outcome=st.sampled_from(Outcome))
    def one_rank_ends(self, data: Any, outcome: Outcome) -> None:
        task = data.draw(st.sampled_from(sorted(self.running)))
        run = self.running[task]
        self.feed(RankEnded(self.now, task, run.attempt, data.draw(st.sampled_from(sorted(run.left))), outcome))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), outcome=st.sampled_from([Outcome.RETURNED] * 4 + [Outcome.RAISED]))
    def all_ranks_end(self, data: Any, outcome: Outcome) -> None:
        task = data.draw(st.sampled_from(sorted(self.running)))
        run = self.running[task]
        events = [RankEnded(self.now, task, run.attempt, rank, outcome) for rank in sorted(run.left)]
        if outcome is Outcome.RETURNED:
            self.feed(*events)
        else:
            for event in events:
                self.feed(event)

    @rule(data=st.data(), returns=st.sampled_from([True, True, False]))
    def a_rank_dies(self, data: Any, returns: bool) -> None:
        if self.present:
            self.feed(RankGone(self.now, data.draw(st.sampled_from(sorted(self.present))), returns))

    @rule(data=st.data())
    def a_rank_joins(self, data: Any) -> None:
        absent = sorted(set(range(len(self.node_of))) - self.present)
        if absent:
            self.feed(RankJoined(self.now, data.draw(st.sampled_from(absent))))

    @precondition(lambda self: self.tasks)
    @rule(data=st.data())
    def cancel(self, data: Any) -> None:
        task = data.draw(st.sampled_from(sorted(self.tasks)))
        was_running = task in self.running
        before = self.finished.get(task)
        self.feed(CancelAsked(self.now, task))
        if before is None and not was_running:
            assert self.finished[task].state is State.CANCELLED

    @precondition(lambda self: self.tasks)
    @rule(data=st.data())
    def release(self, data: Any) -> None:
        task = data.draw(st.sampled_from(sorted(self.tasks)))
        self.released.add(task)
        self.feed(ReleaseAsked(self.now, task))

    @rule(seconds=st.sampled_from([0.5, 1.0, 3.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.feed(Tick(self.now))

    @precondition(lambda self: self.tasks)
    @rule(data=st.data())
    def a_stale_end_is_heard(self, data: Any) -> None:
        task = data.draw(st.sampled_from(sorted(self.tasks)))
        before = (self.schedule.num_running, self.schedule.free_ranks, self.schedule.num_queued)
        assert self.schedule.handle([RankEnded(self.now, task, 999, 0, Outcome.RAISED)]) == []
        assert before == (self.schedule.num_running, self.schedule.free_ranks, self.schedule.num_queued)

    # What must hold

    @invariant()
    def the_schedule_agrees_with_the_books(self) -> None:
        if not hasattr(self, "schedule"):
            return
        assert self.schedule.num_running == len(self.running)
        assert self.schedule.free_ranks == len(self.free()[0])
        for task in self.tasks:
            state = self.schedule.state_of(task)
            if task in self.finished:
                assert state is (None if task in self.released else self.finished[task].state)
            else:
                assert (state is State.RUNNING) == (task in self.running)
        for task, run in self.running.items():
            timeout = self.tasks[task].timeout_seconds
            if timeout is not None and self.now >= run.started + timeout:
                assert run.stopped_at is not None, "a timeout was not seen"
            if run.stopped_at is not None and self.now >= run.stopped_at + GRACE:
                assert run.replaced >= run.left, "a rank that does not leave was not replaced"

    @invariant()
    def the_first_in_line_does_not_fit(self) -> None:
        if not hasattr(self, "schedule"):
            return
        order = self.schedule._work.queue.order
        queued = [task for task in self.tasks if self.schedule.state_of(task) is State.QUEUED]
        if queued:
            first = min((-self.tasks[task].priority, task) for task in queued)
            assert order[0][:2] <= first
            assert order[0][:2] == first or self.tasks[order[0][1]].keep, "only a value that is made again goes before"
        if order:
            line = order[0][2]
            assert not self.fits_now(line.need, line.pinned), "the first in line fits but was not started"

    def teardown(self) -> None:
        if not getattr(self, "sound", False):
            return
        absent = sorted(set(range(len(self.node_of))) - self.present)
        self.feed(*(RankJoined(self.now, rank) for rank in absent))
        while self.running:
            task, run = next(iter(self.running.items()))
            self.feed(*(RankEnded(self.now, task, run.attempt, rank, Outcome.RETURNED) for rank in sorted(run.left)))
        assert set(self.finished) == set(self.tasks), "a task was forgotten"
        self.feed(*(ReleaseAsked(self.now, task) for task in self.tasks))
        schedule = self.schedule
        while self.running:  # a value that was being made again for nobody
            task, run = next(iter(self.running.items()))
            self.feed(*(RankEnded(self.now, task, run.attempt, rank, Outcome.RETURNED) for rank in sorted(run.left)))
        assert not self.pieces, "a kept value was never dropped"
        assert schedule.free_ranks == len(self.node_of)
        assert (schedule.num_queued, schedule.num_running, schedule.next_deadline) == (0, 0, None)
        assert [*schedule._work.entries, *schedule._final, *schedule._running.sizes] == []
        assert len(schedule._lineage) == 0
        fresh = Capacity(self.allocation)
        fresh_books = (fresh.free_cores, fresh.free_gpus, fresh.free_nbytes)
        books = schedule._capacity
        assert (books.free_cores, books.free_gpus, books.free_nbytes) == fresh_books
        again = Schedule(self.allocation, grace_seconds=GRACE)
        for events, out in self.recorded:
            assert again.handle(events) == out, "the same events gave other instructions"


class KeptValueLaws(ScheduleLaws):
    """The same on a small machine where nearly every task keeps its value, so that values are lost and made again."""

    @initialize(ranks=st.integers(2, 4))
    def begin_small(self, ranks: int) -> None:
        self.begin_with([Node(name="n", ranks=ranks, cores=ranks + 1)], ranks)

    @rule(ranks=st.integers(1, 2), keep=st.sampled_from([True, True, False]), cores=st.sampled_from([1, 1, 3]))
    def submit_small(self, ranks: int, keep: bool, cores: int) -> None:
        need = Need(ranks=ranks, cores_per_rank=cores)
        self.feed(Submitted(self.now, Task(id=len(self.tasks), need=need, keep=keep, retries=1)))

    @precondition(lambda self: self.values())
    @rule(data=st.data(), keep=st.booleans(), cores=st.sampled_from([1, 1, 2]), priority=st.integers(0, 1))
    def submit_small_on_a_value(self, data: Any, keep: bool, cores: int, priority: int) -> None:
        on = data.draw(st.sampled_from(self.values()))
        need = Need(ranks=self.tasks[on].need.ranks, cores_per_rank=cores)
        task = Task(id=len(self.tasks), need=need, keep=keep, priority=priority, after=(on,), on=(on,))
        self.feed(Submitted(self.now, task))

    @precondition(lambda self: self.running)
    @rule()
    def the_first_returns(self) -> None:
        task, run = min(self.running.items())
        self.feed(*(RankEnded(self.now, task, run.attempt, rank, Outcome.RETURNED) for rank in sorted(run.left)))

    begin = submit = submit_on_a_value = a_stale_end_is_heard = one_rank_ends = time_passes = None  # type: ignore[assignment]


TestScheduleLaws = ScheduleLaws.TestCase
TestScheduleLaws.settings = settings(
    max_examples=300,
    stateful_step_count=40,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
TestKeptValueLaws = KeptValueLaws.TestCase
TestKeptValueLaws.settings = TestScheduleLaws.settings
