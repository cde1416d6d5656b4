"""One run in a few numbers, all of them measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from argosy.events import Event
from argosy.report.attempts import held, spans


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    name: str
    seconds: float
    """From the first event to the last."""
    ended: bool
    num_ranks: int
    num_ranks_lost: int
    tasks: dict[str, int]
    """How many tasks are in each state."""
    num_retries: int
    """Starts of tasks beyond the first of each."""
    median_wait_seconds: float | None
    """From being queued to the first start: what a task waited for ranks, not for its inputs."""
    median_run_seconds: float | None
    """Of the attempts that ended."""
    utilisation: float | None
    """Share of the time of the ranks that were there in which a task held them."""
    failures: tuple[tuple[str, str], ...]
    """Name and error of each failed task, in the order in which they failed."""


def summarise(events: Sequence[Event]) -> Summary:
    states: dict[int, str] = {}
    names: dict[int, str] = {}
    queued: dict[int, float] = {}
    waits: dict[int, float] = {}
    failures: list[tuple[str, str]] = []
    run_name, ended = "", False
    for event in held(events):
        if event.kind == "run":
            run_name = event.fields.get("name", run_name)
            ended = event.state == "ended"
        if event.kind != "task":
            continue
        states[event.id] = event.state
        names[event.id] = event.fields.get("name") or names.get(event.id, "") or f"task {event.id}"
        if event.state == "queued":
            queued.setdefault(event.id, event.time)
        elif event.state == "running" and event.id in queued:
            waits.setdefault(event.id, event.time - queued[event.id])
        elif event.state == "failed":
            failures.append((names[event.id], str(event.fields.get("error", ""))))

    times = [event.time for event in held(events)]
    worked = spans(events)
    attempts = {(span.task, span.attempt): span for span in worked}
    there = _rank_seconds(events)
    runs = [span.end - span.start for span in attempts.values() if span.outcome in ("done", "failed")]
    return Summary(
        name=run_name,
        seconds=times[-1] - times[0] if times else 0.0,
        ended=ended,
        num_ranks=len({event.id for event in events if event.kind == "rank"}),
        num_ranks_lost=sum(event.kind == "rank" and event.state == "lost" for event in events),
        tasks=dict(Counter(states.values())),
        num_retries=len(attempts) - len({span.task for span in worked}),
        median_wait_seconds=median(waits.values()) if waits else None,
        median_run_seconds=median(runs) if runs else None,
        utilisation=sum(span.end - span.start for span in worked) / there if there else None,
        failures=tuple(failures),
    )


def _rank_seconds(events: Sequence[Event]) -> float:
    """Seconds that ranks were there, over all ranks."""
    joined: dict[int, float] = {}
    total, now = 0.0, 0.0
    for event in held(events):
        now = event.time
        if event.kind == "rank":
            total += now - joined.pop(event.id, now)
            if event.state == "joined":
                joined[event.id] = now
    return total + sum(now - time for time in joined.values())
