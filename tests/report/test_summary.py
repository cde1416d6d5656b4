from __future__ import annotations

import pytest
from hypothesis import given
from run_events import runs, soups

from argosy.events import Event
from argosy.report.summary import summarise


def story() -> list[Event]:
    """Two ranks for ten seconds: one task runs for 4 s on both, fails once before; one waits and is cancelled."""
    return [
        Event(0, "run", 0, "started", {"name": "story"}),
        Event(0, "rank", 0, "joined", {"node": "a"}),
        Event(0, "rank", 1, "joined", {"node": "a"}),
        Event(1, "task", 1, "queued", {"name": "join"}),
        Event(2, "task", 1, "running", {"name": "join", "attempt": 0, "ranks": [0, 1]}),
        Event(3, "task", 1, "queued"),
        Event(4, "task", 1, "running", {"name": "join", "attempt": 1, "ranks": [0, 1]}),
        Event(5, "task", 2, "queued", {"name": "sort"}),
        Event(8, "task", 1, "done"),
        Event(9, "task", 2, "cancelled"),
        Event(10, "run", 0, "ended"),
    ]


def test_a_run_is_summed_up() -> None:
    summary = summarise(story())
    assert (summary.name, summary.seconds, summary.ended) == ("story", 10, True)
    assert summary.tasks == {"done": 1, "cancelled": 1}
    assert summary.num_retries == 1
    assert summary.median_wait_seconds == 1
    assert summary.median_run_seconds == 4
    assert summary.utilisation == pytest.approx((1 + 4) * 2 / (10 * 2))


def test_a_rank_counts_only_while_it_is_there() -> None:
    events = [
        Event(0, "rank", 0, "joined", {"node": "a"}),
        Event(0, "task", 1, "running", {"name": "join", "attempt": 0, "ranks": [0]}),
        Event(2, "rank", 0, "lost", {"node": "a", "signal": 9}),
        Event(10, "task", 1, "failed", {"error": "RankLost"}),
    ]
    summary = summarise(events)
    assert summary.utilisation == pytest.approx(1)
    assert summary.num_ranks_lost == 1
    assert summary.failures == (("join", "RankLost"),)


@given(runs())
def test_ranks_are_never_used_more_than_they_are_there(events: list[Event]) -> None:
    utilisation = summarise(events).utilisation
    assert utilisation is None or 0 <= utilisation <= 1 + 1e-9


@given(soups())
def test_any_events_can_be_summed_up(events: list[Event]) -> None:
    summary = summarise(events)
    assert summary.seconds >= 0
    assert sum(summary.tasks.values()) == len({event.id for event in events if event.kind == "task"})


def test_no_events_are_a_summary_without_figures() -> None:
    summary = summarise([])
    assert (summary.tasks, summary.median_wait_seconds, summary.utilisation) == ({}, None, None)
