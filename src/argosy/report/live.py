"""A run as it stands: events folded into what a person wants to see. No clock and no file: both are the caller's."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from argosy.events import Event

WINDOW_SECONDS = 5.0
NUM_FAILURES_SHOWN = 5

TASK_STATES = ("waiting", "queued", "running", "done", "failed", "cancelled")
FINAL_STATES = ("done", "failed", "cancelled")


@dataclass(slots=True)
class RankView:
    node: str
    lost: bool = False
    task: int | None = None
    task_name: str = ""
    since: float = 0.0
    """When it entered the state it is in."""

    @property
    def state(self) -> str:
        if self.lost:
            return "lost"
        return "idle" if self.task is None else "busy"


@dataclass(frozen=True, slots=True)
class Failure:
    time: float
    task: int
    name: str
    error: str


@dataclass(slots=True)
class View:
    """Give it each event once, in order, with `add`; then read it."""

    name: str = ""
    mpi: str = ""
    ulfm: bool = False
    num_ranks: int = 0
    """Ranks of the allocation, whether they have joined or not."""
    started: float | None = None
    ended: float | None = None
    last_event: float | None = None
    ranks: dict[int, RankView] = field(default_factory=dict)
    num_lost: int = 0
    """Losses so far; a rank that came back and died again counts twice."""
    failures: deque[Failure] = field(default_factory=lambda: deque(maxlen=NUM_FAILURES_SHOWN))
    _states: dict[int, str] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)
    _ranks_of: dict[int, list[int]] = field(default_factory=dict)
    _finished: deque[float] = field(default_factory=deque)

    def add(self, event: Event) -> None:
        self.started = event.time if self.started is None else self.started
        self.last_event = event.time
        if event.kind == "run":
            self._add_run(event)
        elif event.kind == "rank":
            self._add_rank(event)
        elif event.kind == "task":
            self._add_task(event)

    def count(self, state: str) -> int:
        """How many tasks are in this state."""
        return self._counts[state]

    @property
    def num_ranks_there(self) -> int:
        return sum(not rank.lost for rank in self.ranks.values())

    @property
    def num_tasks(self) -> int:
        return len(self._states)

    def age(self, now: float) -> float:
        """Seconds the run has run by `now`, or ran in all."""
        if self.started is None:
            return 0.0
        return max(0.0, (now if self.ended is None else self.ended) - self.started)

    def tasks_per_second(self, now: float) -> float:
        """Tasks that finished over the last seconds before `now`; over the whole run once it has ended."""
        if self.ended is not None:
            finished = sum(self._counts[state] for state in FINAL_STATES)
            return finished / max(self.age(now), 1e-6)
        recent = sum(now - WINDOW_SECONDS < time <= now for time in self._finished)
        return recent / max(min(WINDOW_SECONDS, self.age(now)), 1e-6)

    def nodes(self) -> dict[str, list[int]]:
        """The ranks of each node, in order."""
        nodes: dict[str, list[int]] = {}
        for rank in sorted(self.ranks):
            nodes.setdefault(self.ranks[rank].node, []).append(rank)
        return nodes

    def _add_run(self, event: Event) -> None:
        if event.state == "started":
            self.started = event.time
            self.name = str(event.fields.get("name", ""))
            self.mpi = str(event.fields.get("mpi", ""))
            self.ulfm = bool(event.fields.get("ulfm", False))
            self.num_ranks = sum(node["ranks"] for node in event.fields.get("nodes", ()))
        elif event.state == "ended":
            self.ended = event.time
            for rank in self.ranks.values():
                rank.task = None

    def _add_rank(self, event: Event) -> None:
        known = self.ranks.get(event.id)
        node = str(event.fields.get("node") or (known.node if known else "?"))
        lost = event.state == "lost"
        self.num_lost += lost
        self.ranks[event.id] = RankView(node, lost=lost, since=event.time)
        self.num_ranks = max(self.num_ranks, len(self.ranks))

    def _add_task(self, event: Event) -> None:
        before = self._states.get(event.id)
        if before is not None:
            self._counts[before] -= 1
        self._states[event.id] = event.state
        self._counts[event.state] += 1
        if name := event.fields.get("name"):
            self._names[event.id] = str(name)
        for number in self._ranks_of.pop(event.id, ()):
            rank = self.ranks.get(number)
            if rank is not None and rank.task == event.id:
                rank.task, rank.since = None, event.time
        if event.state == "running":
            self._ranks_of[event.id] = event.fields["ranks"]
            for number in event.fields["ranks"]:
                rank = self.ranks.setdefault(number, RankView("?"))
                rank.task, rank.task_name, rank.since = event.id, self._name_of(event.id), event.time
        elif event.state in FINAL_STATES:
            self._finish(event)

    def _finish(self, event: Event) -> None:
        self._finished.append(event.time)
        while self._finished[0] < event.time - WINDOW_SECONDS:
            self._finished.popleft()
        if event.state == "failed":
            error = str(event.fields.get("error", ""))
            self.failures.append(Failure(event.time, event.id, self._name_of(event.id), error))

    def _name_of(self, task: int) -> str:
        return self._names.get(task) or f"task {task}"
