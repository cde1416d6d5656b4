"""What someone who watches a call is told, as it happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from argosy.tree.expression import Expression
from argosy.tree.memory import Token
from argosy.tree.piece import Piece
from argosy.tree.regions import Region


@dataclass(frozen=True, slots=True)
class Touch:
    """Memory that an expression reads or writes: what stands for it, where in it, and by which name."""

    token: Token
    writes: bool
    region: Region | None
    name: str


class Watcher(Protocol):
    def issued(
        self, expression: Expression, inputs: Sequence[tuple[Expression, str]], touches: Sequence[Touch], function: str
    ) -> None:
        """In program order, by the caller's thread. Inputs are the expressions that make its variables, ended or not;
        touches are memory (or hidden state) that it shares with others."""

    def in_turn(self, piece: Piece, reason: str, started: float, ended: float, function: str) -> None:
        """A piece ran alone, in the caller's thread; why it could not be issued."""

    def ended(self, expression: Expression) -> None:
        """In any thread: it ended well; its times, its thread and its results are there."""
