"""A function taken apart into pieces, with what was learnt of them: kept from call to call."""

from __future__ import annotations

import ast
import math
from typing import Any

from argosy.tree.effects.record import Guard
from argosy.tree.piece import Piece, Plan
from argosy.tree.source import Source


class Loop:
    """What was learnt of one loop."""

    __slots__ = ("seconds",)

    def __init__(self) -> None:
        self.seconds = math.inf
        """Of an iteration; infinite until it was measured."""


class Program:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.pieces: dict[tuple[int, str], Piece] = {}
        self._loops: dict[int, Loop] = {}
        self._functions: dict[tuple[int, str], Any] = {}
        self._guards: dict[Any, Guard] = {}
        self.seconds: float | None = None
        """Of the last call, however it ran."""

    def piece(self, node: Any, role: str) -> Piece:
        key = (id(node), role)
        found = self.pieces.get(key)
        if found is None:
            part = node if isinstance(node, ast.expr) else [node]
            found = self.pieces[key] = Piece(self.source, part, role)
        return found

    def loop(self, node: ast.stmt) -> Loop:
        return self._loops.setdefault(id(node), Loop())

    def unpacking(self, node: ast.For) -> Any:
        """A function that takes an element apart as the target of a loop does."""
        key = (id(node), "unpacking")
        found = self._functions.get(key)
        if found is None:
            names = self.piece(node.target, "target").outs
            taken = ast.copy_location(ast.Assign([node.target], ast.Name("__argosy_item__", ast.Load())), node.target)
            parts = [ast.Name(name, ast.Load()) for name in names]
            given = ast.copy_location(
                ast.Return(value=parts[0] if len(parts) == 1 else ast.Tuple(list(parts), ast.Load())), node.target
            )
            found = self._functions[key] = self.source.make(["__argosy_item__"], [taken, given])
        return found

    def stepping(self, node: ast.For) -> Any:
        """A function that takes one element from an iterator, at the line of the loop: a tuple of it, or None."""
        key = (id(node), "stepping")
        found = self._functions.get(key)
        if found is None:
            where, item, items = node.target, "__argosy_item__", "__argosy_items__"
            taken = ast.Return(value=ast.Tuple([ast.Name(item, ast.Load())], ast.Load()))
            loop = ast.For(target=ast.Name(item, ast.Store()), iter=ast.Name(items, ast.Load()), body=[taken], orelse=[])
            body = [ast.fix_missing_locations(ast.copy_location(part, where)) for part in (loop, ast.Return(value=None))]
            found = self._functions[key] = self.source.make([items], body)
        return found

    def plan(self, piece: Piece, kinds: tuple[Any, ...]) -> Plan:
        plan = piece.plans.get(kinds)
        if plan is not None:
            return plan
        plan = piece.plan(kinds)
        if plan.effects is not None:
            for guard in plan.effects.guards:
                self._guards.setdefault((id(piece), kinds, id(guard)), guard)
        return plan

    def check(self) -> None:
        """Forget what was learnt when something outside that it relied on has changed."""
        if not all(guard.holds() for guard in self._guards.values()):
            self._guards.clear()
            for piece in self.pieces.values():
                piece.plans.clear()
