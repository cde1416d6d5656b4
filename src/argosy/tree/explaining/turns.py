"""Why a piece ran in its turn, in words for the user."""

from __future__ import annotations

import ast

from argosy.tree.grain import GIVEN_UP, PROBED_ITERATIONS, TRIED
from argosy.tree.piece import Piece

_WORDS: dict[type[ast.stmt], str] = {
    ast.With: "a with statement runs as a whole",
    ast.Try: "a try statement runs as a whole",
    ast.TryStar: "a try statement runs as a whole",
    ast.Match: "a match statement runs as a whole",
    ast.FunctionDef: "a function is made here",
    ast.ClassDef: "a class is made here",
    ast.Import: "an import may run anything",
    ast.ImportFrom: "an import may run anything",
}


def why_in_turn(piece: Piece, reason: str, entered: bool) -> str:
    """`entered`: some of what it holds ran as expressions of its own before."""
    if isinstance(piece.part, ast.expr):
        return reason
    statement = piece.part[0]
    if type(statement) in _WORDS:
        return _WORDS[type(statement)]
    if piece.role == "simple":
        return reason
    if reason.startswith((GIVEN_UP, TRIED)):
        return reason
    if isinstance(statement, ast.For) and piece.role == "rest" and not entered:
        return f"what {ast.unparse(statement.iter)} gives may do anything when it is iterated"
    if isinstance(statement, (ast.For, ast.While)):
        rounds = f"the first {PROBED_ITERATIONS} rounds were" if entered else "rounds before were"
        return f"{rounds} too short to be worth a thread"
    return reason
