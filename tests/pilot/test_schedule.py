"""Which task runs where: the rules of the schedule, one example each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    Queued,
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

GRACE = 2.0


class Desk:
    """A schedule with all ranks of one node there, and short words for what happens to it."""

    def __init__(self, ranks: int = 4, **node: int) -> None:
        there = Node(name="a", ranks=ranks, cores=node.pop("cores", ranks), **node)
        self.schedule = Schedule(Allocation(nodes=(there,)), grace_seconds=GRACE)
        self.now = 0.0
        self.num_submitted = 0
        self.queued: list[int] = []
        self.schedule.handle([RankJoined(0.0, rank) for rank in range(ranks)])

    def submit(self, ranks: int = 1, **task: Any) -> list[Instruction]:
        need = Need(ranks=ranks, **{name: task.pop(name) for name in list(task) if name.endswith("_per_rank")})
        given = Task(id=self.num_submitted, need=need, after=task.pop("after", task.get("on", ())), **task)
        self.num_submitted += 1
        return self._handle([Submitted(self.now, given)])

    def end(self, task: int, *ranks: int, attempt: int = 0, outcome: Outcome = Outcome.RETURNED) -> list[Instruction]:
        return self._handle([RankEnded(self.now, task, attempt, rank, outcome) for rank in ranks])

    def at(self, time: float) -> list[Instruction]:
        self.now = time
        return self._handle([Tick(time)])

    def gone(self, rank: int, *, returns: bool = True) -> list[Instruction]:
        return self._handle([RankGone(self.now, rank, returns)])

    def join(self, rank: int) -> list[Instruction]:
        return self._handle([RankJoined(self.now, rank)])

    def cancel(self, task: int) -> list[Instruction]:
        return self._handle([CancelAsked(self.now, task)])

    def release(self, task: int) -> list[Instruction]:
        return self._handle([ReleaseAsked(self.now, task)])

    def _handle(self, events: Sequence[Event]) -> list[Instruction]:
        """What is to be done; that a task is queued is kept aside."""
        out = self.schedule.handle(events)
        self.queued += [one.task for one in out if isinstance(one, Queued)]
        return [one for one in out if not isinstance(one, Queued)]


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


def desk_with_a_value_on_a_busy_rank(**node: int) -> Desk:
    """Task 0 left its value on rank 0, where task 1 runs now."""
    desk = Desk(4, **node)
    desk.submit(keep=True)
    desk.end(0, 0)
    assert desk.submit() == [start(1, 0)]
    return desk


def test_what_a_task_needs_where_its_value_is_stays_free_for_it() -> None:
    desk = desk_with_a_value_on_a_busy_rank(cores=4)
    assert desk.submit(on=(0,), cores_per_rank=3) == []
    assert desk.submit() == []
    desk = desk_with_a_value_on_a_busy_rank(gpus=1)
    assert desk.submit(on=(0,), gpus_per_rank=1) == []
    assert desk.submit(gpus_per_rank=1) == []
    assert desk.submit() == [start(4, 1)]
    desk = desk_with_a_value_on_a_busy_rank(nbytes=4)
    assert desk.submit(on=(0,), nbytes_per_rank=4) == []
    assert desk.submit(nbytes_per_rank=1) == []
    assert desk.submit() == [start(4, 1)]


def test_a_task_whose_rank_is_free_still_waits_for_cores() -> None:
    desk = desk_with_a_value_on_a_busy_rank(cores=4)
    assert desk.submit(cores_per_rank=3) == [start(2, 1)]
    desk.end(1, 0)
    assert desk.submit(on=(0,), cores_per_rank=2) == []
    assert desk.end(2, 1) == [done(2), start(3, 0)]


def test_a_queued_task_whose_value_is_lost_waits_until_it_is_made_again() -> None:
    desk = Desk(2)
    desk.submit(2, keep=True)
    desk.end(0, 0, 1)
    desk.submit()
    assert desk.submit(2, on=(0,)) == []
    assert desk.gone(1) == [Drop(0, (0,))]
    desk.join(1)
    assert desk.end(1, 0) == [done(1), start(0, 0, 1, attempt=1)]
    assert desk.end(0, 0, 1, attempt=1) == [start(2, 0, 1)]


def test_a_value_that_nobody_needs_any_more_is_not_made_again() -> None:
    desk = Desk(2)
    desk.submit(2, keep=True)
    desk.end(0, 0, 1)
    desk.submit(2, keep=True, on=(0,))
    desk.end(1, 0, 1)
    desk.gone(1)
    assert desk.submit(2, on=(1,)) == []
    assert desk.schedule.num_queued == 1
    assert desk.release(0) == desk.release(1) == []
    assert desk.cancel(2) == [Finish(2, State.CANCELLED)]
    assert desk.schedule.num_queued == 0
    assert desk.join(1) == []


def test_a_value_moves_again_when_its_new_ranks_are_gone_too() -> None:
    desk = Desk(4)
    for task in range(2):
        desk.submit(2, keep=True)
        desk.end(task, 0, 1)
    desk.gone(0, returns=False)
    assert desk.submit(2, on=(0,)) == [start(0, 1, 2, attempt=1)]
    desk.end(0, 1, 2, attempt=1)
    desk.end(2, 1, 2)
    desk.gone(2, returns=False)
    assert desk.submit(2, on=(1,)) == [start(1, 1, 3, attempt=1)]


def test_a_task_that_had_to_wait_or_runs_again_is_said_to_be_queued() -> None:
    desk = Desk(1)
    desk.submit()
    desk.submit(after=(0,), retries=1)
    assert desk.queued == []
    desk.end(0, 0)
    assert desk.queued == [1]
    desk.end(1, 0, outcome=Outcome.RAISED)
    assert desk.queued == [1, 1]
