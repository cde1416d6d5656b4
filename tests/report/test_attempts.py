from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from run_events import runs, soups

from argosy.events import Event
from argosy.report.attempts import Span, held, spans


def running(time: float, task: int, ranks: list[int], attempt: int = 0) -> Event:
    return Event(time, "task", task, "running", {"name": "join", "attempt": attempt, "ranks": ranks})


@given(soups() | runs())
def test_spans_on_one_rank_never_overlap_whatever_the_events_say(events: list[Event]) -> None:
    found = sorted(spans(events), key=lambda span: (span.rank, span.start, span.end))
    for before, after in pairwise(found):
        assert before.start <= before.end
        assert before.rank != after.rank or before.end <= after.start


@given(soups() | runs())
def test_every_start_gives_one_span_on_each_of_its_ranks(events: list[Event]) -> None:
    starts = [(e.id, rank) for e in events if e.state == "running" for rank in e.fields["ranks"]]
    assert sorted((span.task, span.rank) for span in spans(events)) == sorted(starts)


@given(soups())
def test_a_held_clock_never_steps_back_and_changes_nothing_else(events: list[Event]) -> None:
    after = list(held(events))
    assert all(one.time <= two.time for one, two in pairwise(after))
    assert [(e.kind, e.id, e.state, e.fields) for e in after] == [(e.kind, e.id, e.state, e.fields) for e in events]


def test_an_attempt_ends_at_the_next_state_of_its_task() -> None:
    found = spans(
        [running(1, 7, [0]), Event(2, "task", 7, "queued"), running(3, 7, [1], 1), Event(5, "task", 7, "done")]
    )
    assert found == [
        Span(7, "join", 0, 0, (0,), 1, 2, "queued"),
        Span(7, "join", 1, 1, (1,), 3, 5, "done"),
    ]


def test_on_a_lost_rank_the_attempt_ends_at_the_loss_and_on_its_peers_when_the_task_moves_on() -> None:
    found = spans(
        [running(1, 7, [0, 1]), Event(2, "rank", 0, "lost"), Event(4, "task", 7, "failed", {"error": "RankLost"})]
    )
    assert found == [
        Span(7, "join", 0, 0, (0, 1), 1, 2, "lost"),
        Span(7, "join", 0, 1, (0, 1), 1, 4, "failed", "RankLost"),
    ]


def test_what_still_runs_when_the_events_stop_is_unfinished() -> None:
    found = spans([running(1, 7, [0]), Event(3, "task", 8, "queued")])
    assert found == [Span(7, "join", 0, 0, (0,), 1, 3, "unfinished")]
