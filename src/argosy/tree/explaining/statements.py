"""Where in the source a piece is: the statement that it is or heads, and how deep that lies."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from argosy.tree.piece import Piece
from argosy.tree.source import Source


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """Two of them are the same when they are at the same place."""

    line: int
    column: int
    last_line: int
    """Where the part that ran as one ends: that of the whole statement, or of its head."""
    text: str
    """Its first line, as Python would write it."""
    depth: int
    """How many loops and branches are around it."""
    kind: str
    """As the syntax tree calls it: `Assign`, `For`, `If`."""


class Statements:
    """Of one function."""

    def __init__(self, source: Source) -> None:
        self._around: dict[int, tuple[ast.stmt, int]] = {}
        for statement, depth in _nested(source.tree.body, 0):
            self._around[id(statement)] = (statement, depth)
            for head in ("test", "iter", "value"):
                value = getattr(statement, head, None)
                if isinstance(value, ast.expr):
                    self._around[id(value)] = (statement, depth)

    def of(self, piece: Piece) -> Statement:
        part = piece.part if isinstance(piece.part, ast.expr) else piece.part[0]
        statement, depth = self._around[id(part)]
        return Statement(
            line=statement.lineno,
            column=statement.col_offset,
            last_line=part.end_lineno or part.lineno,
            text=ast.unparse(statement).split("\n")[0],
            depth=depth,
            kind=type(statement).__name__,
        )


def _nested(statements: list[ast.stmt], depth: int) -> Iterator[tuple[ast.stmt, int]]:
    for statement in statements:
        yield statement, depth
        for field in ("body", "orelse", "finalbody"):
            inner: Any = getattr(statement, field, [])
            is_elif = (
                field == "orelse" and len(inner) == 1 and isinstance(statement, ast.If) and type(inner[0]) is ast.If
            )
            yield from _nested(inner, depth if is_elif else depth + 1)
