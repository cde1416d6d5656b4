"""The walk of one call: statements issued in program order, control followed, opaque pieces run in their turn."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from argosy.tree.endings import BREAK, CONTINUE, NEXT, RETURN
from argosy.tree.entering import Entering
from argosy.tree.expression import Version
from argosy.tree.kinds import ATOM
from argosy.tree.piece import Piece


class Walk(Entering):
    def run(self) -> Version:
        """The value that the function returns, which may still be under way."""
        if self.program.source.shared:
            self.make_cells()
        self.block(self.program.source.tree.body)
        return self.returned if self.returned is not None else Version(None, ATOM)

    def block(self, statements: list[ast.stmt]) -> int:
        steps = self.program.steps.get(id(statements))
        if steps is None:
            steps = self.program.steps[id(statements)] = [self._step(statement) for statement in statements]
        for handler, what in steps:
            status: int = handler(self, what)
            if status != NEXT:
                return status
        return NEXT

    def _step(self, node: ast.stmt) -> tuple[Callable[[Walk, Any], int], Any]:
        """How a statement is walked, and what of: found out once."""
        handler = _HANDLERS.get(type(node))
        bare = isinstance(node, ast.AnnAssign) and node.value is None and isinstance(node.target, ast.Name)
        if bare or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            handler = Walk._skip
        if handler is not None:
            return handler, node
        return (Walk._call, node) if self.may_enter(node) else (Walk._piece, self.program.piece(node, "simple"))

    def _call(self, node: ast.Assign | ast.Expr) -> int:
        return NEXT if self.enters(node) else self._piece(self.program.piece(node, "simple"))

    def _piece(self, piece: Piece) -> int:
        if self.issue(piece) is None:
            apart = self.take_apart(piece.statement)
            if apart is not None:
                return self._piece(self.program.piece(apart, "simple"))
            values = self.in_turn(piece)
            self.bind(piece, (values,) if len(piece.outs) == 1 else values or ())
        return NEXT

    def _skip(self, node: ast.stmt) -> int:  # noqa: ARG002
        return NEXT

    def _delete(self, node: ast.Delete) -> int:
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if len(names) < len(node.targets) or not all(name in self.variables for name in names):
            return self.plainly(node)
        for name in names:
            del self.variables[name]
        return NEXT

    def _return(self, node: ast.Return) -> int:
        if node.value is None:
            self.returned = Version(None, ATOM)
        else:
            self.returned = self.entered(node.value) or self.value(node.value)
        return RETURN

    def _jump(self, node: ast.Break | ast.Continue) -> int:
        return BREAK if isinstance(node, ast.Break) else CONTINUE

    def _if(self, node: ast.If) -> int:
        return self.block(node.body if self.holds(node.test) else node.orelse)


_HANDLERS: dict[type, Callable[[Walk, Any], int]] = {
    ast.Pass: Walk._skip,
    ast.Global: Walk._skip,
    ast.Delete: Walk._delete,
    ast.Return: Walk._return,
    ast.Break: Walk._jump,
    ast.Continue: Walk._jump,
    ast.If: Walk._if,
    ast.While: Walk.loop_while,
    ast.For: Walk.loop_for,
    ast.Try: Walk.plainly,
    ast.With: Walk.plainly,
    ast.Match: Walk.plainly,
    ast.TryStar: Walk.plainly,
    ast.Raise: Walk.plainly,
    ast.AsyncFor: Walk.plainly,
    ast.AsyncWith: Walk.plainly,
}
