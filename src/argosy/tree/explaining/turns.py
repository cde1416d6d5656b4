"""Why a piece ran in its turn, in words for the user."""

from __future__ import annotations

import ast

from argosy.tree.grain import PROBED_ITERATIONS
from argosy.tree.piece import Piece

_WHOLE = {
    ast.With: "with",
    ast.Try: "try",
    ast.TryStar: "try",
    ast.Match: "match",
    ast.Delete: "del",
    ast.FunctionDef: "def",
    ast.ClassDef: "class",
}


def why_in_turn(piece: Piece, reason: str, entered: bool) -> str:
    """`entered`: some of what it holds ran as expressions of its own before."""
    if isinstance(piece.part, ast.expr) or piece.role == "simple":
        return reason
    statement = piece.part[0]
    if type(statement) in _WHOLE:
        return f"a {_WHOLE[type(statement)]} statement runs as a whole"
    if isinstance(statement, ast.For) and piece.role == "rest" and not entered:
        return f"what {ast.unparse(statement.iter)} gives may do anything when it is iterated"
    if isinstance(statement, (ast.For, ast.While)):
        rounds = f"the first {PROBED_ITERATIONS} rounds were" if entered else "rounds before were"
        return f"{rounds} too short to be worth a thread"
    return reason
