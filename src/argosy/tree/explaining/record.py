"""One run of a piece of a function, and why it waited: plain records."""

from __future__ import annotations

from dataclasses import dataclass

from argosy.tree.explaining.statements import Function, Statement

INPUT, READS, WRITES_OVER, WRITES_TOO, STATE, CONTROL = (
    "input",
    "reads",
    "writes over",
    "writes too",
    "state",
    "control",
)
IN_TURN, IN_PLACE, PILOT, WAITED = "in its turn", "in place", "pilot", "after the pilot"
ENDED, FAILED, TAKEN_BACK, NOT_RUN = "ended", "failed", "taken back", "not run"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """An expression that had to end before, and because of what."""

    number: int
    how: str
    """input: it makes a variable; reads: it writes what is read; writes over: it reads what is written; writes too;
    state: both change something hidden; control: it decides what comes next."""
    name: str
    """The variable, or the hidden state, or the test."""
    theirs: str
    """The name by which the other touches the same memory."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an expression that was split over threads."""

    lane: int
    started: float
    ended: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """One run of a statement, test or value."""

    number: int
    """In program order, from 0."""
    statement: Statement
    where: str
    """`main thread`, `thread 1`, `pilot`; `after the pilot`: in the thread that had waited for it; `2 threads`: in
    parts; `in place`: at once in the calling thread, as it is short; `in its turn`: in the calling thread, when
    everything before it had ended."""
    lane: int
    """The thread: 0 is the calling one. Those that wait for a pilot have lanes of their own."""
    started: float
    """In seconds since the call began."""
    ended: float
    overlapped: float
    """Seconds in which something else ran too."""
    nbytes: int
    """Of the arrays that it gave."""
    state: str
    """`ended`; `failed`; `taken back`: it ran, but comes after what failed; `not run`: so does it."""
    alone: bool
    """Nothing after it began before it ended."""
    reason: str
    """Why it ran in its turn, if it did."""
    causes: tuple[Cause, ...]
    parts: tuple[Part, ...] = ()
    """Those that other threads did."""

    @property
    def line(self) -> int:
        return self.statement.line

    @property
    def seconds(self) -> float:
        return self.ended - self.started

    @property
    def work_seconds(self) -> float:
        """Of all threads that worked on it."""
        return self.seconds + sum(part.ended - part.started for part in self.parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """One call, from its begin to its end or its first error."""

    function: Function
    seconds: float
    num_threads: int
    """How many there were, the calling one included."""
    runs: tuple[Ran, ...]

    @property
    def work_seconds(self) -> float:
        return sum(run.work_seconds for run in self.runs)

    @property
    def parallelism(self) -> float:
        """How many ran at a time, on average."""
        return self.work_seconds / self.seconds if self.seconds else 0.0
