"""A run as a trace that ui.perfetto.dev opens: the Chrome trace-event format, times in microseconds.

One process for each node, one thread for each of its ranks; attempts are slices on every rank that they held. Beside
them lie two counters, queued and running tasks, and an instant for each rank that was lost or came back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from argosy.events import Event
from argosy.report.attempts import held, spans

RUN_PID = 0
"""The process that carries the counters. Nodes count from 1."""


def trace(events: Sequence[Event]) -> dict[str, Any]:
    """The whole trace, ready for `json.dump`."""
    origin = events[0].time if events else 0.0
    nodes = _node_of_each_rank(events)
    pids = {node: pid for pid, node in enumerate(dict.fromkeys(nodes.values()), start=RUN_PID + 1)}
    pid_of = {rank: pids[node] for rank, node in nodes.items()}
    records = [*_names(events, nodes, pids), *_counters(events, origin), *_losses(events, origin, pid_of)]
    for span in spans(events):
        start, end = _microseconds(span.start, origin), _microseconds(span.end, origin)
        args: dict[str, Any] = {"task": span.task, "attempt": span.attempt, "ranks": list(span.ranks)}
        args |= {"outcome": span.outcome} | ({"error": span.error} if span.error else {})
        records.append(
            {"ph": "X", "name": span.name, "cat": span.outcome, "pid": pid_of[span.rank], "tid": span.rank}
            | {"ts": start, "dur": end - start, "args": args}
        )
    return {"traceEvents": records, "displayTimeUnit": "ms"}


def _microseconds(time: float, origin: float) -> int:
    return round((time - origin) * 1e6)


def _node_of_each_rank(events: Sequence[Event]) -> dict[int, str]:
    """Ranks in ascending order. One that runs tasks but never joined is on the node `?`."""
    nodes: dict[int, str] = {}
    for event in events:
        if event.kind == "rank" and (node := event.fields.get("node")):
            nodes[event.id] = str(node)
        elif event.kind == "rank":
            nodes.setdefault(event.id, "?")
        elif event.kind == "task" and event.state == "running":
            for rank in event.fields["ranks"]:
                nodes.setdefault(rank, "?")
    return dict(sorted(nodes.items()))


def _names(events: Sequence[Event], nodes: dict[int, str], pids: dict[str, int]) -> list[dict[str, Any]]:
    run = next((event.fields.get("name") for event in events if event.kind == "run"), None) or "run"
    records = [_meta("process_name", RUN_PID, name=run)]
    for node, pid in pids.items():
        records += [_meta("process_name", pid, name=node), _meta("process_sort_index", pid, sort_index=pid)]
    for rank, node in nodes.items():
        records.append(_meta("thread_name", pids[node], rank, name=f"rank {rank}"))
        records.append(_meta("thread_sort_index", pids[node], rank, sort_index=rank))
    return records


def _meta(what: str, pid: int, tid: int = 0, **args: Any) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": args}


def _counters(events: Sequence[Event], origin: float) -> list[dict[str, Any]]:
    records = []
    states: dict[int, str] = {}
    counts: Counter[str] = Counter()
    for event in held(events):
        if event.kind != "task":
            continue
        if event.id in states:
            counts[states[event.id]] -= 1
        states[event.id] = event.state
        counts[event.state] += 1
        args = {"queued": counts["queued"], "running": counts["running"]}
        ts = _microseconds(event.time, origin)
        records.append({"ph": "C", "name": "tasks", "pid": RUN_PID, "tid": 0, "ts": ts, "args": args})
    return records


def _losses(events: Sequence[Event], origin: float, pid_of: dict[int, int]) -> list[dict[str, Any]]:
    records = []
    lost: set[int] = set()
    for event in held(events):
        if event.kind != "rank" or (event.state == "joined" and event.id not in lost):
            continue
        lost.add(event.id)
        name = f"rank {event.id} lost" if event.state == "lost" else f"rank {event.id} is back"
        place = {"pid": pid_of[event.id], "tid": event.id, "ts": _microseconds(event.time, origin)}
        records.append({"ph": "i", "s": "t", "name": name, "args": event.fields} | place)
    return records
