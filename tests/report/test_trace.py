from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from typing import Any

from hypothesis import given
from run_events import NODES, runs, soups

from argosy.events import Event
from argosy.report.trace import RUN_PID, trace


def records(events: list[Event], phase: str) -> list[dict[str, Any]]:
    return [record for record in trace(events)["traceEvents"] if record["ph"] == phase]


@given(soups() | runs())
def test_slices_of_one_thread_never_overlap(events: list[Event]) -> None:
    threads = defaultdict(list)
    for record in records(events, "X"):
        threads[record["pid"], record["tid"]].append((record["ts"], record["ts"] + record["dur"]))
    for slices in threads.values():
        assert all(before[1] <= after[0] for before, after in pairwise(sorted(slices)))


@given(soups() | runs())
def test_every_slice_and_instant_lies_on_a_thread_that_has_a_name(events: list[Event]) -> None:
    named = {(r["pid"], r["tid"]) for r in records(events, "M") if r["name"] == "thread_name"}
    assert {(r["pid"], r["tid"]) for phase in "Xi" for r in records(events, phase)} <= named


@given(soups() | runs())
def test_a_trace_is_plain_json_with_times_that_perfetto_accepts(events: list[Event]) -> None:
    read_back = json.loads(json.dumps(trace(events), allow_nan=False))
    assert read_back == trace(events)
    for record in read_back["traceEvents"]:
        assert isinstance(record["name"], str)
        assert record["ph"] == "M" or (isinstance(record["ts"], int) and record["ts"] >= 0)
        assert record.get("dur", 0) >= 0


@given(soups() | runs())
def test_counters_end_at_the_number_of_tasks_in_each_state_and_are_never_negative(events: list[Event]) -> None:
    counters = [record["args"] for record in records(events, "C")]
    last = {event.id: event.state for event in events if event.kind == "task"}
    assert all(value >= 0 for args in counters for value in args.values())
    assert bool(counters) == bool(last)
    if counters:
        states = list(last.values())
        assert counters[-1] == {"queued": states.count("queued"), "running": states.count("running")}


@given(runs())
def test_a_process_is_a_node_and_a_thread_is_a_rank(events: list[Event]) -> None:
    meta = records(events, "M")
    processes = {r["pid"]: r["args"]["name"] for r in meta if r["name"] == "process_name"}
    threads = {r["tid"]: (processes[r["pid"]], r["args"]["name"]) for r in meta if r["name"] == "thread_name"}
    assert processes.pop(RUN_PID) == "made up"
    assert sorted(processes.values()) == ["one", "two"]
    assert threads == {rank: (node, f"rank {rank}") for rank, node in enumerate(NODES)}


def test_a_lost_rank_is_an_instant_that_says_how_it_died() -> None:
    lost = [Event(1, "rank", 3, "joined", {"node": "a"}), Event(2.5, "rank", 3, "lost", {"node": "a", "signal": 9})]
    (instant,) = records(lost, "i")
    assert (instant["name"], instant["ts"], instant["args"]["signal"]) == ("rank 3 lost", 1_500_000, 9)


def test_a_slice_carries_its_task_its_attempt_its_ranks_and_its_error() -> None:
    start = Event(1, "task", 7, "running", {"name": "join", "attempt": 2, "ranks": [0]})
    (record,) = records([start, Event(2, "task", 7, "failed", {"error": "ValueError: no"})], "X")
    assert record["name"] == "join"
    assert record["args"] == {"task": 7, "attempt": 2, "ranks": [0], "outcome": "failed", "error": "ValueError: no"}


def test_a_run_without_events_is_an_empty_trace_that_still_opens() -> None:
    assert [record["ph"] for record in trace([])["traceEvents"]] == ["M"]
