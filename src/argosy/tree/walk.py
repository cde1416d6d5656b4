"""The walk of one call: statements issued in program order, control followed, opaque pieces run in their turn."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np

from argosy.tree.expression import Version
from argosy.tree.grain import PROBED_ITERATIONS
from argosy.tree.issue import Issuer
from argosy.tree.kinds import ATOM, Box, is_plain
from argosy.tree.piece import BREAK, NEXT, RETURN, Piece
from argosy.tree.shape import may_fork, worth_entering

_NOTHING = object()


class Walk(Issuer):
    returned: Version | None = None

    def run(self) -> Version:
        """The value that the function returns, which may still be under way."""
        self._block(self.program.source.tree.body)
        return self.returned if self.returned is not None else Version(None, ATOM)

    def _block(self, statements: list[ast.stmt]) -> int:
        for statement in statements:
            handler = _HANDLERS.get(type(statement), Walk._simple)
            status = handler(self, statement)
            if status != NEXT:
                return status
        return NEXT

    # statements

    def _simple(self, node: ast.stmt) -> int:
        piece = self.program.piece(node, "simple")
        if self.issue(piece) is None:
            values = self._in_turn(piece)
            self._bind(piece, (values,) if len(piece.outs) == 1 else values or ())
        return NEXT

    def _expression(self, node: ast.Expr) -> int:
        return NEXT if isinstance(node.value, ast.Constant) else self._simple(node)

    def _annotated(self, node: ast.AnnAssign) -> int:
        bare = node.value is None and isinstance(node.target, ast.Name)
        return NEXT if bare else self._simple(node)

    def _skip(self, node: ast.stmt) -> int:
        return NEXT

    def _delete(self, node: ast.Delete) -> int:
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if len(names) < len(node.targets) or not all(name in self.variables for name in names):
            return self._plainly(node)
        for name in names:
            del self.variables[name]
        return NEXT

    def _return(self, node: ast.Return) -> int:
        self.returned = Version(None, ATOM) if node.value is None else self._value(node.value, "value")
        return RETURN

    def _jump(self, node: ast.Break | ast.Continue) -> int:
        return BREAK if isinstance(node, ast.Break) else BREAK + 1

    def _value(self, node: ast.expr, role: str) -> Version:
        piece = self.program.piece(node, role)
        outs = self.issue(piece)
        if outs is not None:
            return outs[0]
        result = self._in_turn(piece)
        if piece.outs:
            result, *bound = result
            self._bind(piece, bound)
        return Version(result)

    def _holds(self, test: ast.expr) -> bool:
        return bool(self.wait(self._value(test, "test")))

    def _bind(self, piece: Piece, values: Any) -> None:
        for name, value in zip(piece.outs, values, strict=True):
            self.variables[name] = Version(value)

    # pieces that run in their turn: after everything before them, alone, here, as plain Python

    def _in_turn(self, piece: Piece, *first: Any) -> Any:
        self.flow.drain()
        missing = frozenset(name for name in piece.inputs if name not in self.variables)
        values = [self.variables[name].value for name in piece.inputs if name not in missing]
        started = perf_counter()
        try:
            return piece.function(missing)(*first, *values)
        finally:
            ended = perf_counter()
            piece.count += 1
            piece.seconds += ended - started
            if self.watcher is not None:
                self.watcher.in_turn(piece, self._reason(piece), started, ended, self.program.source.name)
            self._look_again()

    def _reason(self, piece: Piece) -> str:
        """Why a piece ran in its turn."""
        unbound = [name for name in piece.inputs if name not in self.variables]
        if unbound and piece.role in ("simple", "value", "test"):
            return f"{unbound[0]} has no value"
        opaque = [plan.opaque for plan in piece.plans.values() if plan.opaque is not None]
        return opaque[-1].reason if opaque else "it runs as plain Python"

    def _look_again(self) -> None:
        """Anything may have changed: kinds, memory, globals."""
        self.flow.renew()
        for version in self.variables.values():
            version.forget()
        self.program.check()

    def _plainly(self, node: ast.stmt) -> int:
        """A whole compound statement as plain Python."""
        piece = self.program.piece(node, "block")
        return self._ended(piece, self._in_turn(piece))

    def _rest(self, node: ast.For, items: Any) -> int:
        """A loop, or what is left of it, as plain Python."""
        piece = self.program.piece(node, "rest")
        return self._ended(piece, self._in_turn(piece, items))

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

    # control

    def _if(self, node: ast.If) -> int:
        return self._block(node.body if self._holds(node.test) else node.orelse)

    def _while(self, node: ast.While) -> int:
        if self._as_one(node):
            return NEXT
        loop = self.program.loop(node)
        if self.grain.small_iteration(loop.seconds):
            return self._plainly(node)
        started, count = perf_counter(), 0
        while self._holds(node.test):
            status = self._block(node.body)
            if status == BREAK:
                return NEXT
            if status == RETURN:
                return RETURN
            count += 1
            if count == PROBED_ITERATIONS:
                loop.seconds = (perf_counter() - started) / count
                if self.grain.small_iteration(loop.seconds):
                    return self._plainly(node)
        return self._block(node.orelse)

    def _for(self, node: ast.For) -> int:
        if self._as_one(node):
            return NEXT
        loop = self.program.loop(node)
        if self.grain.small_iteration(loop.seconds):
            return self._plainly(node)
        iterable = self._value(node.iter, "value")
        value = self.wait(iterable)
        items = self._items(node, iterable, value)
        if items is None or not isinstance(node.target, (ast.Name, ast.Tuple)):
            return self._rest(node, value)
        started, count = perf_counter(), 0
        for item in items:
            self._bind_item(node, iterable, item)
            status = self._block(node.body)
            if status == BREAK:
                return NEXT
            if status == RETURN:
                return RETURN
            count += 1
            if count == PROBED_ITERATIONS:
                loop.seconds = (perf_counter() - started) / count
                if self.grain.small_iteration(loop.seconds):
                    return self._rest(node, items)
        return self._block(node.orelse)

    def _items(self, node: ast.For, iterable: Version, value: Any) -> Iterator[Any] | None:
        """The elements, each when everything has been written that it may be read from; None: not for us to iterate."""
        kind = self.kind(iterable)
        if type(value) in (range, tuple, str) or (type(value) is np.ndarray and value.ndim > 1):
            return iter(value)
        iterates = isinstance(value, (list, dict, set, frozenset)) or (type(value) is np.ndarray and value.ndim == 1)
        if (iterates and is_plain(kind)) or (isinstance(kind, Box) and kind.tag == "iterator" and is_plain(kind.item)):
            return _Settled(self, iterable, self.program.stepping(node), iter(value))
        return None

    def settle_items(self, iterable: Version) -> None:
        if self._is_old(iterable):
            self.flow.drain()
            self._look_again()
        else:
            self.settle(iterable)

    def _bind_item(self, node: ast.For, iterable: Version, item: Any) -> None:
        if isinstance(node.target, ast.Name):
            self.variables[node.target.id] = self._item(iterable, item)
            return
        piece = self.program.unpacking(node)
        values = piece(item)
        names = self.program.piece(node.target, "target").outs
        for name, value in zip(names, (values,) if len(names) == 1 else values, strict=True):
            self.variables[name] = self._item(iterable, value)

    def _item(self, iterable: Version, item: Any) -> Version:
        """An element shares the memory of what it is read from; of an old iterator nobody knows any more what that is."""
        if self._is_old(iterable):
            return Version(item)
        return Version(item, None, self.token(iterable), self.flow.age)

    def _is_old(self, iterable: Version) -> bool:
        return iterable.token_age != self.flow.age and not isinstance(iterable.value, (list, dict, set, np.ndarray))

    def _as_one(self, node: ast.For | ast.While) -> bool:
        """Issue a whole loop as one expression, when nothing inside of it would gain from being told apart."""
        if worth_entering(node.body) and not (isinstance(node, ast.For) and may_fork(node)):
            return False
        piece = self.program.piece(node, "simple")
        return not piece.escapes and not piece.deletes and self.issue(piece) is not None


class _Settled:
    """The iterator over something that expressions under way may write."""

    def __init__(self, walk: Walk, iterable: Version, step: Callable[..., Any], items: Iterator[Any]) -> None:
        self._walk = walk
        self._step = step
        self._iterable = iterable
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self._walk.settle_items(self._iterable)
        found = self._step(self._items)
        if found is None:
            raise StopIteration
        return found[0]


_HANDLERS: dict[type, Callable[[Walk, Any], int]] = {
    ast.Expr: Walk._expression,
    ast.AnnAssign: Walk._annotated,
    ast.Pass: Walk._skip,
    ast.Global: Walk._skip,
    ast.Delete: Walk._delete,
    ast.Return: Walk._return,
    ast.Break: Walk._jump,
    ast.Continue: Walk._jump,
    ast.If: Walk._if,
    ast.While: Walk._while,
    ast.For: Walk._for,
    ast.Try: Walk._plainly,
    ast.With: Walk._plainly,
    ast.Match: Walk._plainly,
    ast.TryStar: Walk._plainly,
    ast.Raise: Walk._plainly,
    ast.AsyncFor: Walk._plainly,
    ast.AsyncWith: Walk._plainly,
}
