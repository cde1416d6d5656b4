"""What happened, when: the states of a run, its ranks and its tasks, one JSON object a line.

    {"time": 1.25, "kind": "task", "id": 7, "state": "running", "name": "join", "attempt": 0, "ranks": [0, 1]}

`time` is seconds since the epoch. `kind` is `run`, `rank` or `task`; `id` is 0 for the run, else the number of the rank
or task. States of a run: started, ended. Of a rank: joined, lost. Of a task: waiting, queued, running, done, failed,
cancelled. Further fields belong to the state:

    run started     name, pid, mpi, ulfm, nodes (a list of {name, ranks, cores, gpus, nbytes})
    rank joined     node (a name), pid
    rank lost       node, signal or exit_code where known
    task waiting    name, ranks (how many), the first state of every task (queued when it waits for nothing)
    task running    name, attempt, ranks (which)
    task failed     error
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE_NAME = "events.jsonl"
_quote = json.encoder.encode_basestring_ascii
_encoder = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Event:
    """One state that one thing entered."""

    time: float
    kind: str
    id: int
    state: str
    fields: dict[str, Any] = field(default_factory=dict)


def encode(event: Event) -> str:
    """The event as one line, without its end."""
    kind, state = _quote(event.kind), _quote(event.state)
    head = f'{{"time":{event.time:.6f},"kind":{kind},"id":{event.id},"state":{state}'
    return f"{head},{_encoder(event.fields)[1:]}" if event.fields else head + "}"


def decode(line: str) -> Event:
    record = json.loads(line)
    return Event(record.pop("time"), record.pop("kind"), record.pop("id"), record.pop("state"), record)


def read(path: Path) -> Iterator[Event]:
    """The events of a file, as far as it has been written: a last line without an end is still being written."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):
                yield decode(line)
