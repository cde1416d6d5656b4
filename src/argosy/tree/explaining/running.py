"""A run of a piece that is not over yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from argosy.tree.explaining.record import NOT_RUN, Cause
from argosy.tree.explaining.statements import Statement
from argosy.tree.expression import Expression


@dataclass(slots=True)
class Running:
    """One run of a piece, while the call goes on."""

    statement: Statement
    causes: tuple[Cause, ...] = ()
    started: float = 0.0
    ended: float = 0.0
    thread: int = 0
    where: str = ""
    nbytes: int = 0
    state: str = NOT_RUN
    reason: str = ""
    alone: bool = False
    parts: list[tuple[int, float, float]] = field(default_factory=list)
    expression: Expression | None = field(default=None, repr=False)
    """Until it has ended."""
