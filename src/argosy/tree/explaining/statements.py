"""Where in the source a piece is: the statement that it is or is a part of, and how deep that lies."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from argosy.tree.piece import Piece
from argosy.tree.source import Source


@dataclass(frozen=True, kw_only=True, slots=True)
class Function:
    """A function that was called, or that the walk of a call went into."""

    name: str
    filename: str
    line: int

    def __str__(self) -> str:
        return f"{self.name}, line {self.line} of {PurePath(self.filename).name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    function: Function
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

    @property
    def place(self) -> tuple[Function, int, int]:
        """The same for all that is told as one."""
        return self.function, self.line, self.column


def function_of(source: Source) -> Function:
    return Function(name=source.name, filename=source.filename, line=source.function.__code__.co_firstlineno)


class Statements:
    """Of all functions whose pieces are asked for."""

    def __init__(self) -> None:
        self._around: dict[int, dict[int, tuple[ast.stmt, int]]] = {}
        self._found: dict[int, tuple[Piece, Statement]] = {}

    def of(self, piece: Piece) -> Statement:
        found = self._found.get(id(piece))
        if found is None:
            found = self._found[id(piece)] = (piece, self._statement(piece))
        return found[1]

    def _statement(self, piece: Piece) -> Statement:
        part = piece.part if isinstance(piece.part, ast.expr) else piece.part[0]
        around = self._around.get(id(piece.source))
        if around is None:
            around = self._around[id(piece.source)] = dict(_nodes(piece.source.tree.body, 0))
        statement, depth = around.get(id(part), (part, 0))
        return Statement(
            function=function_of(piece.source),
            line=statement.lineno,
            column=statement.col_offset,
            last_line=part.end_lineno or part.lineno,
            text=ast.unparse(statement).split("\n")[0],
            depth=depth,
            kind=type(statement).__name__,
        )


def decides(piece: Piece, statement: Statement) -> bool:
    """It is the test of a branch, or what a loop goes over: whatever comes after it waits for it."""
    return piece.role == "test" or (statement.kind == "For" and piece.role == "value")


def _nodes(statements: list[ast.stmt], depth: int) -> Iterator[tuple[int, tuple[ast.stmt, int]]]:
    """Each statement and each expression in it, by identity, with the statement and its depth."""
    for statement in statements:
        blocks = [getattr(statement, field, []) for field in ("body", "orelse", "finalbody")]
        inner = {id(one) for block in blocks for one in block}
        yield id(statement), (statement, depth)
        heads = [node for node in ast.iter_child_nodes(statement) if id(node) not in inner]
        yield from ((id(node), (statement, depth)) for head in heads for node in ast.walk(head))
        for block in blocks:
            yield from _nodes(block, depth if _is_elif(statement, block) else depth + 1)


def _is_elif(statement: ast.stmt, block: list[Any]) -> bool:
    if not isinstance(statement, ast.If) or block is not statement.orelse:
        return False
    return len(block) == 1 and isinstance(block[0], ast.If)
