"""Why lines waited for others: one sentence for each pair of lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from argosy.tree.explaining.record import CONTROL, INPUT, READS, STATE, WRITES_OVER, WRITES_TOO, Cause, Ran
from argosy.tree.explaining.rows import Row
from argosy.tree.explaining.statements import Statement

_MOST = 4
_STATES = {"numpy.random": "both draw from NumPy's global generator"}


@dataclass(frozen=True, slots=True)
class Wait:
    """A statement waits for another, or for itself in the round before."""

    statement: Statement
    other: Statement
    why: str

    def __str__(self) -> str:
        line, other = self.statement.line, self.other.line
        whom = f"line {other}" if other != line else f"{self.other.text} before it"
        if (other, self.other.column) == (line, self.statement.column):
            whom = "itself, the round before"
        return f"line {line} waits for {whom}: {self.why}"


def waits_of(row: Row, runs: Sequence[Ran]) -> list[Wait]:
    """Nearest first, without those that the nearer ones wait for themselves."""
    whys: dict[tuple[int, int], dict[str, None]] = {}
    others: dict[tuple[int, int], Statement] = {}
    for run in row.runs:
        for cause in direct_causes(run, runs):
            other = runs[cause.number].statement
            place = (other.line, other.column)
            others[place] = other
            whys.setdefault(place, {}).setdefault(_words(cause, other.line), None)
    return [
        Wait(row.statement, others[place], "; ".join(list(whys[place])[:_MOST])) for place in sorted(whys, reverse=True)
    ]


def direct_causes(run: Ran, runs: Sequence[Ran]) -> Iterator[Cause]:
    """Those that are worth telling: a test is told by what comes next, the head of a loop if it waited itself."""
    implied = {cause.number for near in run.causes for cause in runs[near.number].causes}
    for cause in run.causes:
        other = runs[cause.number]
        decided = cause.how == CONTROL
        if decided and (run.number != other.number + 1 or (other.statement.kind == "For" and not other.causes)):
            continue
        if cause.number not in implied:
            yield cause


def _words(cause: Cause, line: int) -> str:
    also = f" as {cause.theirs}" if cause.theirs != cause.name else ""
    if cause.how == INPUT:
        return cause.name
    if cause.how == READS:
        return f"{cause.name}, which line {line} writes{also}"
    if cause.how == WRITES_OVER:
        return f"writes {cause.name}, which line {line} reads{also}"
    if cause.how == WRITES_TOO:
        return f"writes {cause.name}, which line {line} writes too{also}"
    if cause.how == STATE:
        return _STATES.get(cause.name, f"both use {cause.name}")
    return f"{cause.name} decides what comes next"
