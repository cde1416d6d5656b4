"""Which task runs where: the laws of the schedule against a naive model, and its rules by example."""

from __future__ import annotations

from collections import Counter
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
    InputFailed,
    Instruction,
    Lost,
    NeverFits,
    Outcome,
    Raised,
    RankEnded,
    RankGone,
    RankJoined,
    ReleaseAsked,
    Replace,
    Start,
    Stop,
    Submitted,
    Tick,
    TimedOut,
    ValueGone,
)
from argosy.pilot.schedule import Schedule
from argosy.pilot.task import State, Task
from argosy.resources import Allocation, Need, Node, Slots

# The laws -------------------------------------------------------------------------------------------------------------

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

    @rule(data=st.data(), need=needs, priority=st.integers(0, 2), retries=st.integers(0, 2), keep=st.booleans())
    def submit(self, data: Any, need: Need, priority: int, retries: int, keep: bool) -> None:
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
            keep=keep,
            timeout_seconds=data.draw(st.sampled_from([None, None, 1.0, 5.0])),
            after=tuple(dict.fromkeys([*after, *on])),
            on=tuple(on),
        )
        self.feed(Submitted(self.now, task))

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
        assert [*schedule._work.entries, *schedule._final, *schedule._running] == []
        assert len(schedule._lineage) == 0
        fresh = Capacity(self.allocation)
        fresh_books = (fresh.free_cores, fresh.free_gpus, fresh.free_nbytes)
        books = schedule._capacity
        assert (books.free_cores, books.free_gpus, books.free_nbytes) == fresh_books
        again = Schedule(self.allocation, grace_seconds=GRACE)
        for events, out in self.recorded:
            assert again.handle(events) == out, "the same events gave other instructions"


TestScheduleLaws = ScheduleLaws.TestCase
TestScheduleLaws.settings = settings(
    max_examples=400,
    stateful_step_count=40,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


# The rules, by example ------------------------------------------------------------------------------------------------


class Desk:
    """A schedule with all ranks of one node there, and short words for what happens to it."""

    def __init__(self, ranks: int = 4, **node: int) -> None:
        there = Node(name="a", ranks=ranks, cores=node.pop("cores", ranks), **node)
        self.schedule = Schedule(Allocation(nodes=(there,)), grace_seconds=GRACE)
        self.now = 0.0
        self.num_submitted = 0
        self.schedule.handle([RankJoined(0.0, rank) for rank in range(ranks)])

    def submit(self, ranks: int = 1, **task: Any) -> list[Instruction]:
        need = Need(ranks=ranks, **{name: task.pop(name) for name in list(task) if name.endswith("_per_rank")})
        given = Task(id=self.num_submitted, need=need, after=task.pop("after", task.get("on", ())), **task)
        self.num_submitted += 1
        return self.schedule.handle([Submitted(self.now, given)])

    def end(self, task: int, *ranks: int, attempt: int = 0, outcome: Outcome = Outcome.RETURNED) -> list[Instruction]:
        return self.schedule.handle([RankEnded(self.now, task, attempt, rank, outcome) for rank in ranks])

    def at(self, time: float) -> list[Instruction]:
        self.now = time
        return self.schedule.handle([Tick(time)])

    def gone(self, rank: int, *, returns: bool = True) -> list[Instruction]:
        return self.schedule.handle([RankGone(self.now, rank, returns)])

    def join(self, rank: int) -> list[Instruction]:
        return self.schedule.handle([RankJoined(self.now, rank)])

    def cancel(self, task: int) -> list[Instruction]:
        return self.schedule.handle([CancelAsked(self.now, task)])

    def release(self, task: int) -> list[Instruction]:
        return self.schedule.handle([ReleaseAsked(self.now, task)])


def start(task: int, *ranks: int, attempt: int = 0) -> Start:
    return Start(task, attempt, Slots(ranks, (0,) * len(ranks)))


def done(task: int) -> Finish:
    return Finish(task, State.DONE)


def failed(task: int, cause: Any) -> Finish:
    return Finish(task, State.FAILED, cause)


def test_a_task_gets_all_of_its_ranks_at_once() -> None:
    desk = Desk(4)
    assert desk.submit(3) == [start(0, 0, 1, 2)]
    assert desk.submit(2) == []
    assert desk.end(0, 0, 1) == []
    assert desk.end(0, 2) == [done(0), start(1, 0, 1)]
    assert desk.end(1, 0, 1) == [done(1)]
    assert desk.schedule.free_ranks == 4


def test_no_rank_is_used_before_it_joins() -> None:
    schedule = Schedule(Allocation(nodes=(Node(name="a", ranks=2, cores=2),)))
    assert schedule.handle([Submitted(0, Task(id=0, need=Need(ranks=2)))]) == []
    assert schedule.handle([RankJoined(0, 1)]) == []
    assert schedule.handle([RankJoined(0, 0)]) == [start(0, 0, 1)]


def test_higher_priority_goes_first_and_then_who_came_first() -> None:
    desk = Desk(1)
    desk.submit()
    desk.submit(priority=0)
    desk.submit(priority=1)
    desk.submit(priority=1)
    assert desk.end(0, 0) == [done(0), start(2, 0)]
    assert desk.end(2, 0) == [done(2), start(3, 0)]
    assert desk.end(3, 0) == [done(3), start(1, 0)]


def test_what_can_never_fit_fails_at_once_and_says_what_there_is() -> None:
    desk = Desk(4, cores=8, gpus=2, nbytes=2**30)
    assert desk.submit(8) == [failed(0, NeverFits("8 ranks", "4 ranks"))]
    assert desk.submit(cores_per_rank=9) == [failed(1, NeverFits("9 cores for one rank", "at most 8 on a node"))]
    assert desk.submit(gpus_per_rank=3) == [failed(2, NeverFits("3 GPUs for one rank", "at most 2 on a node"))]
    asked = NeverFits("2.0 GiB of memory for one rank", "at most 1.0 GiB on a node")
    assert desk.submit(nbytes_per_rank=2**31) == [failed(3, asked)]
    asked = NeverFits("3 ranks with 1 core and 1 GPU each", "room for 2 such")
    assert desk.submit(3, gpus_per_rank=1) == [failed(4, asked)]
    assert Desk(1).submit(gpus_per_rank=0.5) == [failed(0, NeverFits("0.5 GPUs for one rank", "none"))]


def test_a_task_waits_for_its_inputs_and_fails_with_them() -> None:
    desk = Desk(4)
    desk.submit()
    assert desk.submit(after=(0,)) == []
    assert desk.submit(after=(1,)) == []
    assert desk.schedule.state_of(2) is State.WAITING
    assert desk.end(0, 0, outcome=Outcome.RAISED) == [
        failed(0, Raised(0, 0)),
        failed(1, InputFailed(0)),
        failed(2, InputFailed(1)),
    ]
    assert desk.submit(after=(2,)) == [failed(3, InputFailed(2))]


def test_a_long_chain_of_tasks_fails_as_one() -> None:
    desk = Desk(1)
    desk.submit()
    for task in range(5000):
        desk.submit(after=(task,))
    assert len(desk.cancel(0)) == 1
    assert len(desk.end(0, 0, outcome=Outcome.STOPPED)) == 5001


def test_when_a_rank_raises_the_others_are_told_to_stop_and_replaced_if_they_do_not() -> None:
    desk = Desk(3)
    desk.submit(3)
    assert desk.end(0, 1, outcome=Outcome.RAISED) == [Stop(0, 0, (0, 2))]
    assert desk.end(0, 0, outcome=Outcome.STOPPED) == []
    assert desk.schedule.next_deadline == GRACE
    assert desk.at(1.9) == []
    assert desk.at(2.0) == [Replace(2)]
    assert desk.at(9.0) == []
    assert desk.gone(2) == [failed(0, Raised(1, 0))]
    assert desk.schedule.next_deadline is None


def test_each_failure_uses_one_retry() -> None:
    desk = Desk(2)
    desk.submit(2, retries=2, timeout_seconds=5.0)
    assert desk.end(0, 0, outcome=Outcome.RAISED) == [Stop(0, 0, (1,))]
    assert desk.end(0, 1, outcome=Outcome.STOPPED) == [start(0, 0, 1, attempt=1)]
    assert desk.gone(0) == [Stop(0, 1, (1,))]
    assert desk.end(0, 1, attempt=1, outcome=Outcome.STOPPED) == []
    assert desk.join(0) == [start(0, 0, 1, attempt=2)]
    assert desk.at(5.0) == [Stop(0, 2, (0, 1))]
    assert desk.end(0, 0, 1, attempt=2, outcome=Outcome.STOPPED) == [failed(0, TimedOut(5.0))]


def test_the_end_of_an_earlier_attempt_is_not_heard() -> None:
    desk = Desk(1)
    desk.submit(retries=1)
    assert desk.end(0, 0, outcome=Outcome.RAISED) == [start(0, 0, attempt=1)]
    assert desk.end(0, 0, attempt=0) == []
    assert desk.schedule.num_running == 1


def test_a_start_that_never_was_uses_no_retry() -> None:
    desk = Desk(2)
    desk.submit(2)
    for attempt in range(5):
        assert desk.end(0, 0, attempt=attempt, outcome=Outcome.UNSTARTED) == [Stop(0, attempt, (1,))]
        again = start(0, 0, 1, attempt=attempt + 1)
        assert desk.end(0, 1, attempt=attempt, outcome=Outcome.STOPPED) == [again]


def test_a_rank_that_lost_its_peers_waits_for_the_news_of_their_death() -> None:
    desk = Desk(2)
    desk.submit(2)
    assert desk.end(0, 0, outcome=Outcome.STOPPED) == [Stop(0, 0, (1,))]
    assert desk.gone(1) == [failed(0, Lost(1))]


def test_ranks_that_stop_though_nobody_died_run_again_three_times() -> None:
    desk = Desk(2)
    desk.submit(2)
    for attempt in range(3):
        assert desk.end(0, 1, attempt=attempt, outcome=Outcome.STOPPED) == [Stop(0, attempt, (0,))]
        again = start(0, 0, 1, attempt=attempt + 1)
        assert desk.end(0, 0, attempt=attempt, outcome=Outcome.STOPPED) == [again]
    desk.end(0, 1, attempt=3, outcome=Outcome.STOPPED)
    assert desk.end(0, 0, attempt=3, outcome=Outcome.STOPPED) == [failed(0, Lost(1))]


def test_cancel_ends_a_queued_task_at_once_and_a_running_one_when_its_ranks_have_left() -> None:
    desk = Desk(1)
    desk.submit(retries=3)
    desk.submit()
    assert desk.cancel(1) == [Finish(1, State.CANCELLED)]
    assert desk.cancel(0) == [Stop(0, 0, (0,))]
    assert desk.cancel(0) == []
    assert desk.end(0, 0, outcome=Outcome.STOPPED) == [Finish(0, State.CANCELLED)]
    assert desk.cancel(0) == desk.cancel(77) == []


def test_cancelling_the_first_in_line_lets_the_next_ones_start() -> None:
    desk = Desk(2)
    desk.submit(1)
    desk.submit(2)
    desk.submit(1)
    assert desk.cancel(1) == [Finish(1, State.CANCELLED), start(2, 1)]


def test_ranks_that_are_gone_for_good_are_no_longer_waited_for() -> None:
    desk = Desk(2)
    desk.submit(1)
    desk.submit(2)
    assert desk.gone(1, returns=False) == [failed(1, NeverFits("2 ranks", "1 rank"))]
    assert desk.schedule.can_ever_fit(Need(ranks=2)) is not None
    desk.join(1)
    assert desk.schedule.can_ever_fit(Need(ranks=2)) is None


def test_a_task_runs_where_the_value_is_that_it_needs() -> None:
    desk = Desk(4)
    desk.submit(1)
    desk.submit(2, keep=True)
    desk.end(1, 1, 2)
    assert desk.submit(2, on=(1,)) == [start(2, 1, 2)]
    assert desk.submit(2, on=(1,)) == []
    assert desk.release(1) == []
    assert desk.end(2, 1, 2) == [done(2), start(3, 1, 2)]
    assert desk.end(3, 1, 2) == [done(3), Drop(1, (1, 2))]


def test_a_released_value_is_dropped_when_the_last_task_that_needs_it_is_over() -> None:
    desk = Desk(2)
    desk.submit(2, keep=True)
    assert desk.end(0, 0, 1) == [done(0)]
    desk.submit(2, on=(0,))
    assert desk.release(0) == []
    assert desk.end(1, 0, 1) == [done(1), Drop(0, (0, 1))]
    assert desk.submit(2, on=(0,)) == [failed(2, ValueGone(0, "its value was released"))]


def test_a_value_that_is_released_before_it_is_there_is_dropped_when_it_is() -> None:
    desk = Desk(2)
    desk.submit(2, keep=True)
    assert desk.release(0) == []
    assert desk.end(0, 0, 1) == [done(0), Drop(0, (0, 1))]


def test_a_value_on_other_ranks_than_asked_is_a_failure_that_says_so() -> None:
    desk = Desk(4)
    desk.submit(2, keep=True)
    desk.submit(2, keep=True)
    desk.end(0, 0, 1)
    desk.end(1, 2, 3)
    why = ValueGone(0, "it is on 2 ranks, but the task has 3")
    assert desk.submit(3, on=(0,)) == [failed(2, why)]
    why = ValueGone(1, "it is not on the same ranks as that of task 0")
    assert desk.submit(2, on=(0, 1)) == [failed(3, why)]


def test_a_lost_value_is_made_again_when_somebody_needs_it() -> None:
    desk = Desk(2)
    desk.submit(2, keep=True)
    desk.end(0, 0, 1)
    assert desk.gone(1) == [Drop(0, (0,))]
    assert desk.join(1) == []
    assert desk.submit(2, on=(0,)) == [start(0, 0, 1, attempt=1)]
    assert desk.end(0, 0, 1, attempt=1) == [start(1, 0, 1)]


def test_lost_values_are_made_again_from_lost_values() -> None:
    desk = Desk(2)
    desk.submit(2, keep=True)
    desk.end(0, 0, 1)
    desk.submit(2, keep=True, on=(0,))
    desk.end(1, 0, 1)
    assert desk.gone(0) == [Drop(0, (1,)), Drop(1, (1,))]
    assert desk.submit(2, on=(1,)) == []
    assert desk.join(0) == [start(0, 0, 1, attempt=1)]
    assert desk.end(0, 0, 1, attempt=1) == [start(1, 0, 1, attempt=1)]
    assert desk.end(1, 0, 1, attempt=1) == [start(2, 0, 1)]
    assert desk.end(2, 0, 1) == [done(2)]


def test_what_cannot_be_made_again_fails_who_needs_it() -> None:
    desk = Desk(2)
    desk.submit(2, keep=True)
    desk.end(0, 0, 1)
    desk.submit(2, keep=True, on=(0,))
    desk.end(1, 0, 1)
    assert desk.release(0) == [Drop(0, (0, 1))]
    assert desk.gone(0) == [Drop(1, (1,))]
    (finish,) = desk.submit(2, on=(1,))
    assert isinstance(finish, Finish)
    assert isinstance(finish.cause, ValueGone)
    assert finish.cause.task == 1
    assert "task 0: its value was released" in finish.cause.why


def test_values_that_shared_their_ranks_move_together() -> None:
    desk = Desk(4)
    for task in range(2):
        desk.submit(2, keep=True)
        desk.end(task, 0, 1)
    desk.gone(0, returns=False)
    assert desk.submit(2, on=(0, 1)) == [start(0, 1, 2, attempt=1)]
    assert desk.end(0, 1, 2, attempt=1) == [start(1, 1, 2, attempt=1)]
    assert desk.end(1, 1, 2, attempt=1) == [start(2, 1, 2)]


def test_half_a_value_of_an_attempt_that_failed_is_dropped() -> None:
    desk = Desk(2)
    desk.submit(2, keep=True, retries=1)
    desk.end(0, 0)
    assert desk.end(0, 1, outcome=Outcome.RAISED) == [Drop(0, (0,)), start(0, 0, 1, attempt=1)]
