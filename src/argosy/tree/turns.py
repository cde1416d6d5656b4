"""Pieces that run in their turn: after everything before them, alone, in the caller's thread, as plain Python."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from time import perf_counter
from types import CellType, CodeType
from typing import Any

from argosy.tree.endings import RETURN
from argosy.tree.expression import Version
from argosy.tree.grain import TRIED
from argosy.tree.issue import Issuer
from argosy.tree.piece import Piece
from argosy.tree.source import HIDDEN_NAMES

_NOTHING = object()


class Turns(Issuer):
    returned: Version | None = None
    """What the function returned, once it has."""
    cells: Mapping[str, CellType] = {}
    """The variables that inner functions see change."""

    def make_cells(self) -> None:
        self.cells = {name: CellType() for name in self.program.source.shared}
        for name, cell in self.cells.items():
            if name in self.variables:
                cell.cell_contents = self.wait(self.variables.pop(name))

    def block(self, statements: list[ast.stmt]) -> int:
        """Walk statements; how that ended."""
        raise NotImplementedError

    def value(self, node: ast.expr, role: str = "value") -> Version:
        """An expression of the user's, under way or, if it must have its turn, there."""
        piece = self.program.piece(node, role)
        outs = self.issue(piece)
        if outs is None and role == "value":
            apart = self.take_apart(node)
            if apart is not None:
                return self.value(apart)
        if outs is not None:
            return outs[0]
        result = self.in_turn(piece)
        if piece.outs:
            result, *bound = result
            self.bind(piece, bound)
        return Version(result)

    def take_apart(self, node: Any) -> Any:
        """What is left when the inner calls of a statement are under way by themselves; None when there are none."""
        piece = self.program.piece(node, "value" if isinstance(node, ast.expr) else "simple")
        if not any(plan.opaque is not None and plan.opaque.for_now for plan in piece.plans.values()):
            return None
        apart = self.program.apart(node)
        if apart is None:
            return None
        first, rest = apart
        for name, part in first:
            self.variables[name] = self.value(part)
        return rest

    def holds(self, test: ast.expr) -> bool:
        return bool(self.wait(self.value(test, "test")))

    def bind(self, piece: Piece, values: Any) -> None:
        for name, value in zip(piece.outs, values, strict=True):
            self.variables[name] = Version(value)

    def in_turn(self, piece: Piece, *first: Any, reason: str = "") -> Any:
        self.flow.drain()
        there = [name for name in self.program.source.in_order if name in self.variables]
        there += [name for name in piece.inputs if name in HIDDEN_NAMES and name in self.variables]
        function = piece.in_frame(tuple(there))
        if self.cells:
            function = self.program.source.with_cells(function, self.cells)
        values = [self.variables[name].value for name in there]
        started = perf_counter()
        try:
            return function(*first, *values)
        except NameError as error:
            unbound = self._as_local(error, function.__code__)
            if unbound is None:
                raise
        finally:
            del values
            ended = perf_counter()
            piece.count_before += 1
            piece.seconds_before += ended - started
            self.flow.worked += ended - started
            if self.watcher is not None:
                self.watcher.in_turn(piece, reason or self._reason(piece), started, ended, self.program.source.name)
            self.look_again()
        raise unbound

    def _as_local(self, error: NameError, code: CodeType) -> UnboundLocalError | None:
        """A variable in a cell that is not bound is a local one for its own function; None for other errors."""
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if type(error) is not NameError or error.name not in self.cells or trace is None:
            return None
        if trace.tb_frame.f_code is not code:
            return None
        text = f"cannot access local variable '{error.name}' where it is not associated with a value"
        made = UnboundLocalError(text).with_traceback(error.__traceback__)
        made.__context__ = error.__context__
        return made

    def _reason(self, piece: Piece) -> str:
        """Why a piece ran in its turn."""
        if piece.shared:
            return f"{min(piece.shared)} is a variable of an inner function too"
        unbound = [name for name in piece.inputs if name not in self.variables]
        if unbound and piece.role in ("simple", "value", "test"):
            return f"{unbound[0]} has no value"
        opaque = [plan.opaque for plan in piece.plans.values() if plan.opaque is not None]
        return opaque[-1].reason if opaque else "it runs as plain Python"

    def look_again(self) -> None:
        """Anything may have changed: kinds, memory, globals."""
        self.flow.renew()
        for version in self.variables.values():
            version.forget()
        self.program.check()

    def plainly(self, node: ast.stmt, reason: str = "") -> int:
        """A whole compound statement as plain Python."""
        piece = self.program.piece(node, "block")
        return self._ended(piece, self.in_turn(piece, reason=reason))

    def rest(self, node: ast.For, items: Any, reason: str = "") -> int:
        """A loop, or what is left of it, as plain Python."""
        piece = self.program.piece(node, "rest")
        return self._ended(piece, self.in_turn(piece, items, reason=reason))

    def stretch(self, node: ast.For | ast.While, items: Any) -> int:
        """Some rounds of a loop as plain Python."""
        piece = self.program.piece(node, "stretch")
        return self._ended(piece, self.in_turn(piece, items, reason=TRIED))

    def _ended(self, piece: Piece, result: Any) -> int:
        status, rest = result
        if status == RETURN:
            self.returned = Version(rest)
            return RETURN
        for name in piece.outs:
            value = rest.get(name, _NOTHING)
            if value is not _NOTHING:
                self.variables[name] = Version(value)
            else:
                self.variables.pop(name, None)
        return int(status)
