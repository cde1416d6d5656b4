"""A function taken apart into pieces, with what was learnt of them: kept from call to call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property
from types import FunctionType
from typing import Any

from argosy.tree.effects.record import Guard
from argosy.tree.hoist import taken_apart
from argosy.tree.kinds import of_class
from argosy.tree.learning import learns
from argosy.tree.losses import Loop
from argosy.tree.names import jumps, names_of
from argosy.tree.piece import Piece
from argosy.tree.plan import Plan
from argosy.tree.shape import may_fork, may_write, worth_entering
from argosy.tree.source import NotCaptured, Source, capture


class Program:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.pieces: dict[tuple[int, str], Piece] = {}
        self.steps: dict[int, list[Any]] = {}
        """For each block, how its statements are walked."""
        self._bound_by: dict[int, frozenset[str]] = {}
        self._taken_apart: dict[int, Any] = {}
        self._apart: dict[int, bool] = {}
        self._tiled: dict[int, bool] = {}
        self._read: dict[int, frozenset[str]] = {}
        self._callees: dict[FunctionType, Program | None] = {}
        self._loops: dict[int, Loop] = {}
        self._functions: dict[tuple[int, str], Any] = {}
        self._guards: dict[Any, Guard] = {}
        self.writes = may_write(source.tree)
        """Something in it may write memory in place, or was seen to do so."""

    def piece(self, node: Any, role: str) -> Piece:
        key = (id(node), role)
        found = self.pieces.get(key)
        if found is None:
            found = self.pieces[key] = self._piece(node, role)
        return found

    @learns
    def _piece(self, node: Any, role: str) -> Piece:
        return Piece(self.source, node if isinstance(node, ast.expr) else [node], role)

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
            loop = ast.For(
                target=ast.Name(item, ast.Store()), iter=ast.Name(items, ast.Load()), body=[taken], orelse=[]
            )
            body: list[ast.stmt] = [
                ast.fix_missing_locations(ast.copy_location(part, where)) for part in (loop, ast.Return(value=None))
            ]
            found = self._functions[key] = self.source.make([items], body)
        return found

    def piece_without(self, node: ast.stmt, missing: frozenset[str]) -> Piece:
        """A statement whose inputs lack some variables that are not bound yet."""
        key = (id(node), "simple without " + ",".join(sorted(missing)))
        found = self.pieces.get(key)
        if found is None:
            found = self.pieces[key] = Piece(self.source, [node], "simple", missing)
        return found

    def apart(self, node: Any) -> Any:
        """A statement or expression taken apart at its inner calls, once and for all; None when it has none."""
        if id(node) not in self._taken_apart:
            self._taken_apart[id(node)] = taken_apart(node)
        return self._taken_apart[id(node)]

    def bound_by_iteration(self, loop: ast.For | ast.While) -> frozenset[str]:
        """What every iteration of a loop binds, if it ends."""
        found = self._bound_by.get(id(loop))
        if found is None:
            target = (
                [ast.copy_location(ast.Assign([loop.target], loop.iter), loop)] if isinstance(loop, ast.For) else []
            )
            found = self._bound_by[id(loop)] = names_of(target if jumps(loop.body) else [*target, *loop.body]).surely
        return found

    def is_worth_walking(self, loop: ast.For | ast.While, has_big: Callable[[frozenset[str]], bool]) -> bool:
        """Something inside of a loop can be told apart, and the loop cannot be cut as a whole."""
        if isinstance(loop, ast.For) and may_fork(loop):
            return False
        if self._can_tell_apart(loop.body, repeats=isinstance(loop, ast.For)):
            return True
        return has_big(self._read_by(loop)) and self._can_be_tiled(loop.body)

    def has_something_to_tell_apart(self, has_big: bool) -> bool:
        """A call of the function is worth walking."""
        body = self.source.tree.body
        return self._can_tell_apart(body) or (has_big and self._can_be_tiled(body))

    def _can_tell_apart(self, statements: list[ast.stmt], repeats: bool = False) -> bool:
        key = id(statements)
        if key not in self._apart:
            self._apart[key] = self._has_parts(statements, repeats)
        return self._apart[key]

    @learns
    def _has_parts(self, statements: list[ast.stmt], repeats: bool) -> bool:
        return worth_entering(statements, repeats) or any(piece.forks for piece in self._simple_pieces(statements))

    def _can_be_tiled(self, statements: list[ast.stmt]) -> bool:
        key = id(statements)
        if key not in self._tiled:
            self._tiled[key] = self._has_tiles(statements)
        return self._tiled[key]

    @learns
    def _has_tiles(self, statements: list[ast.stmt]) -> bool:
        cuts = any(piece.cuts for piece in self._simple_pieces(statements))
        return cuts or any(map(self._calls_something_tiled, statements))

    def _read_by(self, loop: ast.stmt) -> frozenset[str]:
        found = self._read.get(id(loop))
        if found is None:
            found = self._read[id(loop)] = names_of([loop]).exposed
        return found

    def _calls_something_tiled(self, statement: ast.stmt) -> bool:
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
        for call in calls:
            name = call.func.id  # type: ignore[attr-defined]
            function: Any = None if name in self.source.local_names else self.global_value(name)
            function = function.plain if of_class(type(function), "__argosy_plain__") else function
            if type(function) is FunctionType and function is not self.source.function:
                callee = self.of_callee(function)
                if callee is not None and callee.has_cuts:
                    return True
        return False

    @cached_property
    def has_cuts(self) -> bool:
        return any(piece.cuts for piece in self._simple_pieces(self.source.tree.body))

    def _simple_pieces(self, statements: list[ast.stmt]) -> Iterator[Piece]:
        """Those of assignments and of what is returned, also inside of loops and branches."""
        for statement in statements:
            if isinstance(statement, (ast.For, ast.While, ast.If)):
                yield from self._simple_pieces(statement.body)
                yield from self._simple_pieces(statement.orelse)
            elif isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
                yield self.piece(statement, "simple")
            elif isinstance(statement, ast.Return) and statement.value is not None:
                yield self.piece(statement.value, "value")

    @learns
    def of_callee(self, function: FunctionType) -> Program | None:
        """The program of a function that this one calls; None when its source is not to be had."""
        if function not in self._callees:
            try:
                self._callees[function] = Program(capture(function))
            except NotCaptured:
                self._callees[function] = None
        return self._callees[function]

    def with_callees(self) -> list[Program]:
        """This one first, then those of the functions that were gone into from it."""
        found: dict[int, Program] = {}
        left: list[Program] = [self]
        while left:
            program = left.pop(0)
            if id(program) not in found:
                found[id(program)] = program
                left += [callee for callee in program._callees.values() if callee is not None]
        return list(found.values())

    def global_value(self, name: str) -> Any:
        """What a name that is not a local variable stands for now; None when there is none."""
        if name in self.source.cells or name in self.source.local_names:
            return None
        return self.source.function.__globals__.get(name)

    def plan(self, piece: Piece, kinds: tuple[Any, ...]) -> Plan:
        plan = piece.plans.get(kinds)
        if plan is not None:
            return plan
        plan = self._plan(piece, kinds)
        if plan.effects is not None:
            for guard in plan.effects.guards:
                self._guards.setdefault(guard.key, guard)
        return plan

    @learns
    def _plan(self, piece: Piece, kinds: tuple[Any, ...]) -> Plan:
        return piece.plan(kinds)

    def check(self) -> None:
        """Forget what was learnt when something outside that it relied on has changed."""
        # Copies: another thread's call may learn something meanwhile.
        if not all(guard.holds() for guard in list(self._guards.values())):
            self._guards.clear()
            for piece in list(self.pieces.values()):
                piece.forget()
