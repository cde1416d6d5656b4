from __future__ import annotations

import pytest
from hypothesis import given
from run_events import runs, soups

from argosy.events import Event
from argosy.report.live import TASK_STATES, View
from argosy.report.summary import summarise


def view_of(events: list[Event]) -> View:
    view = View()
    for event in events:
        view.add(event)
    return view


def running(time: float, task: int, ranks: list[int], name: str = "join") -> Event:
    return Event(time, "task", task, "running", {"name": name, "attempt": 0, "ranks": ranks})


@given(soups() | runs())
def test_every_task_is_in_exactly_one_state(events: list[Event]) -> None:
    view = view_of(events)
    assert sum(view.count(state) for state in TASK_STATES) == view.num_tasks


@given(soups() | runs())
def test_the_live_view_and_the_summary_count_the_same_tasks(events: list[Event]) -> None:
    view = view_of(events)
    assert {state: n for state in TASK_STATES if (n := view.count(state))} == summarise(events).tasks


@given(runs())
def test_a_rank_is_busy_with_a_task_that_runs_until_the_run_has_ended(events: list[Event]) -> None:
    view = view_of(events)
    states = {event.id: event.state for event in events if event.kind == "task"}
    busy = [rank.task for rank in view.ranks.values() if rank.state == "busy"]
    assert all(states[task] == "running" for task in busy if task is not None)
    assert view.ended is None or not busy


def test_ranks_are_grouped_by_node_and_show_what_they_do() -> None:
    joined = [Event(0, "rank", rank, "joined", {"node": node}) for rank, node in ((2, "b"), (0, "a"), (1, "a"))]
    view = view_of([*joined, running(1, 7, [0, 1]), Event(2, "rank", 1, "lost", {"node": "a"})])
    assert view.nodes() == {"a": [0, 1], "b": [2]}
    assert [view.ranks[rank].state for rank in range(3)] == ["busy", "lost", "idle"]
    assert view.ranks[0].task_name == "join"


def test_ranks_that_have_not_joined_or_are_lost_are_missing_from_the_allocation() -> None:
    start = Event(0, "run", 0, "started", {"nodes": [{"name": "a", "ranks": 2}, {"name": "b", "ranks": 2}]})
    joined = [Event(1, "rank", rank, "joined", {"node": "a"}) for rank in (0, 1)]
    view = view_of([start, *joined, Event(2, "rank", 0, "lost", {"node": "a"})])
    assert (view.num_ranks_there, view.num_ranks) == (1, 4)


def test_a_rank_that_took_the_next_task_is_not_freed_by_the_end_of_the_last_one() -> None:
    back = Event(3, "rank", 0, "joined", {"node": "a"})
    lost = Event(2, "rank", 0, "lost", {"node": "a"})
    view = view_of([running(1, 7, [0, 1]), lost, back, running(4, 8, [0]), Event(5, "task", 7, "failed")])
    assert (view.ranks[0].task, view.ranks[1].task) == (8, None)


def test_throughput_counts_the_last_seconds_only() -> None:
    events = [Event(0, "run", 0, "started"), *(Event(10 + task / 10, "task", task, "done") for task in range(10))]
    view = view_of(events)
    assert view.tasks_per_second(now=12) == pytest.approx(10 / 5)
    assert view.tasks_per_second(now=60) == 0


def test_throughput_of_a_run_that_has_ended_is_that_of_the_whole_run() -> None:
    view = view_of([Event(0, "run", 0, "started"), Event(1, "task", 1, "done"), Event(4, "run", 0, "ended")])
    assert view.tasks_per_second(now=1000) == pytest.approx(1 / 4)
    assert view.age(now=1000) == 4


def test_the_last_failures_are_kept_with_their_names_and_errors() -> None:
    view = view_of([running(1, 7, [0], "join"), Event(2, "task", 7, "failed", {"error": "ValueError: no"})])
    assert [(failure.name, failure.error) for failure in view.failures] == [("join", "ValueError: no")]
