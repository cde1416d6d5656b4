"""Which task ran on which rank, from when to when: what traces and summaries are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from argosy.events import Event

LOST = "lost"
UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class Span:
    """One attempt of one task on one of its ranks."""

    task: int
    name: str
    attempt: int
    rank: int
    ranks: tuple[int, ...]
    """All ranks of the attempt."""
    start: float
    end: float
    outcome: str
    """The state the task went into, `lost` when this rank died under it, `unfinished` when the events stop before."""
    error: str = ""


def held(events: Iterable[Event]) -> Iterator[Event]:
    """The events with a clock that never steps back: a time before the last one becomes the last one."""
    now = float("-inf")
    for event in events:
        now = max(now, event.time)
        yield event if event.time == now else Event(now, event.kind, event.id, event.state, event.fields)


def spans(events: Iterable[Event]) -> list[Span]:
    """The spans of all attempts in the order of their ends. On one rank they never overlap.

    An attempt ends at the next state of its task; on a rank that is lost, at the loss, since that rank may be back and
    at work again before its peers have left the attempt.
    """
    found: list[Span] = []
    running: dict[int, Event] = {}  # by rank

    def end(rank: int, time: float, outcome: str, error: str = "") -> None:
        start = running.pop(rank)
        fields = start.fields
        name = fields.get("name") or f"task {start.id}"
        ranks = tuple(fields["ranks"])
        found.append(Span(start.id, name, fields.get("attempt", 0), rank, ranks, start.time, time, outcome, error))

    ranks_of: dict[int, tuple[int, ...]] = {}  # by task
    now = 0.0
    for event in held(events):
        now = event.time
        if event.kind == "task":
            for rank in ranks_of.pop(event.id, ()):
                if rank in running and running[rank].id == event.id:
                    end(rank, now, event.state, event.fields.get("error", ""))
            if event.state == "running":
                ranks_of[event.id] = tuple(event.fields["ranks"])
                for rank in ranks_of[event.id]:
                    if rank in running:
                        end(rank, now, UNFINISHED)
                    running[rank] = event
        elif event.kind == "rank" and event.state == "lost" and event.id in running:
            end(event.id, now, LOST)
        elif event.kind == "run" and event.state == "ended":
            for rank in list(running):
                end(rank, now, UNFINISHED)
    for rank in list(running):
        end(rank, now, UNFINISHED)
    return found
