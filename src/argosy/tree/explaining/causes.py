"""Why lines waited for others: one sentence for each pair of lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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
        one, two = self.statement, self.other
        whom = line_of(two, one)
        if two.place == one.place:
            whom = "itself, the round before"
        elif two.place[:2] == one.place[:2]:
            whom = f"{two.text} before it"
        return f"line {one.line} waits for {whom}: {self.why}"


def line_of(other: Statement, seen_from: Statement) -> str:
    """Lines of other functions are told with their name."""
    return f"line {other.line}" + (f" of {other.function.name}" if other.function != seen_from.function else "")


def waits_of(row: Row, runs: Sequence[Ran]) -> list[Wait]:
    """Nearest first, without those that the nearer ones wait for themselves."""
    whys: dict[Any, dict[str, None]] = {}
    others: dict[Any, tuple[int, Statement]] = {}
    for run in row.runs:
        for cause in direct_causes(run, runs):
            other = runs[cause.number].statement
            others[other.place] = (cause.number, other)
            words = _words(cause, line_of(other, row.statement))
            whys.setdefault(other.place, {}).setdefault(words, None)
    nearest = sorted(others, key=lambda place: -others[place][0])
    return [Wait(row.statement, others[place][1], "; ".join(list(whys[place])[:_MOST])) for place in nearest]


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


def _words(cause: Cause, line: str) -> str:
    also = f" as {cause.theirs}" if cause.theirs != cause.name else ""
    if cause.how == INPUT:
        return cause.name
    if cause.how == READS:
        return f"{cause.name}, which {line} writes{also}"
    if cause.how == WRITES_OVER:
        return f"writes {cause.name}, which {line} reads{also}"
    if cause.how == WRITES_TOO:
        return f"writes {cause.name}, which {line} writes too{also}"
    if cause.how == STATE:
        return _STATES.get(cause.name, f"both use {cause.name}")
    return f"{cause.name} decides what comes next"
