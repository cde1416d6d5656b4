"""What someone who watches a call is told, as it happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from argosy.tree.expression import Expression
from argosy.tree.piece import Piece


class Watcher(Protocol):
    def issued(self, expression: Expression, reasons: Sequence[tuple[Expression, str]], function: str) -> None:
        """In program order, by the caller's thread. Each reason is an expression it waits for, and the variable
        (or hidden state) because of which."""

    def in_turn(self, piece: Piece, reason: str, started: float, ended: float, function: str) -> None:
        """A piece ran alone, in the caller's thread; why it could not be issued."""

    def ended(self, expression: Expression) -> None:
        """In any thread: it ended well; its times, its thread and its results are there."""
