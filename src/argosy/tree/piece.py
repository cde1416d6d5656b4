"""Pieces of a function: a statement, a test or a value, compiled by itself as a function of the variables it reads.

A piece that falls off its end gives the variables it binds. A whole compound statement that runs plainly also says how
it ended: by falling off its end, or by a break, continue or return that reaches outside of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from argosy.tree.effects import Effects, Opaque, analyse
from argosy.tree.grain import TOO_SHORT_TO_CUT, Grain
from argosy.tree.kinds import ARRAY, ATOM, VALUE, AnyKind
from argosy.tree.names import names_of
from argosy.tree.pool import Pool
from argosy.tree.source import Source

NEXT, BREAK, CONTINUE, RETURN = range(4)
_MOST_PLANS = 64
_SIMPLE_KINDS = frozenset({ATOM, ARRAY, VALUE})
_ITEMS, _STATUS, _ONCE = "__argosy_items__", "__argosy_status__", "__argosy_once__"


class Plan:
    """What is known of a piece for inputs of certain kinds: what it does, or why that is not known, and how long it took."""

    __slots__ = (
        "count", "effects", "function", "indices", "is_simple", "kinds", "only_reads", "opaque", "piece", "seconds",
    )  # fmt: skip

    def __init__(
        self, piece: Piece, kinds: tuple[AnyKind, ...], effects: Effects | None, opaque: Opaque | None
    ) -> None:
        self.piece = piece
        self.kinds = kinds
        self.effects = effects
        self.opaque = opaque
        self.seconds: float | None = None
        """Per run, a moving mean."""
        self.count = 0
        self.indices: dict[Any, Any] = {}
        self.is_simple = False
        """The short way of issuing will do."""
        self.function: Any = None
        """What runs it, when that is always the same."""
        self.only_reads: tuple[int, ...] = ()
        """The inputs it reads, when it does nothing else to memory."""
        if effects is not None and not (effects.outers or effects.states or effects.links):
            if not any(access.writes or access.index is not None for access in effects.accesses):
                self.only_reads = tuple(access.source for access in effects.accesses)

    def runner(self, pool: Pool, grain: Grain) -> Any:
        """What runs it when its inputs are there: in parts where it can be cut, else plainly."""
        for cut in self.piece.cuts:
            run = cut.runner(self, pool, grain)
            if run is not None:
                return run
        function = self.piece.function()
        short = self.seconds is not None and self.seconds < TOO_SHORT_TO_CUT
        if all(short and (cut.only_if_long or not grain.always) for cut in self.piece.cuts):
            self.function = function
            self.is_simple = self._makes_one_value()
        return function

    def _makes_one_value(self) -> bool:
        """It reads arrays and numbers and makes one new value, and nothing else."""
        effects = self.effects
        if effects is None or effects.waits or effects.states or effects.links or not _SIMPLE_KINDS.issuperset(self.kinds):
            return False
        only_reads = len(self.only_reads) == len(effects.accesses)
        return only_reads and not effects.outers and len(effects.outs) == 1 and not effects.outs[0].sources

    def took(self, seconds: float) -> None:
        self.count += 1
        self.piece.count += 1
        self.piece.seconds += seconds
        self.seconds = seconds if self.seconds is None else 0.7 * self.seconds + 0.3 * seconds


class Piece:
    """`inputs` and `outs` are names of local variables; `outs` are all bound when it falls off its end, if `sure`."""

    def __init__(
        self, source: Source, part: Sequence[ast.stmt] | ast.expr, role: str, missing: frozenset[str] = frozenset()
    ) -> None:
        """`missing` are variables that are known to be unbound before it."""
        self.source = source
        self._missing = missing
        self.items = role == "rest"
        """It is the rest of a `for` loop, over an iterator that comes as the first argument."""
        self.part = part
        self.role = role
        """simple: gives what it binds; value: gives itself; test: gives its truth; block: gives how it ended too.

        A value or test that binds variables by `:=` gives a tuple of itself and them."""
        self.is_value = isinstance(part, ast.expr)
        names = names_of(part)
        local = source.local_names
        exposed = names.exposed & local
        bound = names.bound & local
        deleted = {
            target.id
            for node in ([part] if isinstance(part, ast.expr) else part)
            for inner in ast.walk(node)
            if isinstance(inner, ast.Delete)
            for target in inner.targets
            if isinstance(target, ast.Name)
        }
        self.outs = tuple(sorted(bound))
        self.unsure = (bound - names.surely) | (deleted & local)
        """May be unbound afterwards, unless they were bound before and are not deleted."""
        self.deletes = bool(deleted)
        if role in ("block", "rest"):  # may end before it has bound them
            self.unsure = bound
        if self.items:
            exposed = _of_rest(part) & local
        self.inputs = tuple(sorted((exposed | self.unsure) - missing))
        self.line = part.lineno if isinstance(part, ast.expr) else part[0].lineno
        self.plans: dict[tuple[AnyKind, ...], Plan] = {}
        self.count = 0
        self.seconds = 0.0
        """How often it ran in walked calls, and how long in all."""
        self._functions: dict[frozenset[str], Any] = {}

    def plan(self, kinds: tuple[AnyKind, ...]) -> Plan:
        plan = self.plans.get(kinds)
        if plan is None:
            if len(self.plans) > _MOST_PLANS:
                self.plans.clear()
            plan = self.plans[kinds] = self._analysed(kinds)
        return plan

    def _analysed(self, kinds: tuple[AnyKind, ...]) -> Plan:
        try:
            if self.role in ("block", "rest"):
                raise Opaque("a whole statement in its turn", self.line)
            return Plan(self, kinds, analyse(self.source, self.part, self.inputs, kinds, self.outs), None)
        except Opaque as opaque:
            opaque.line = opaque.line or self.line
            return Plan(self, kinds, None, opaque)

    @cached_property
    def cuts(self) -> list[Any]:
        """The ways in which it can be cut into parts, by its syntax."""
        from argosy.tree.fork import fork_of
        from argosy.tree.tiling import tiling_of

        return [cut for cut in (fork_of(self), tiling_of(self)) if cut is not None]

    def body(self) -> list[ast.stmt]:
        """As it is compiled."""
        return self._body()[0]

    def ending(self) -> ast.stmt:
        """The statement that gives what a simple piece binds."""
        return self.body()[-1]

    def forget(self) -> None:
        """Something outside that was relied on has changed."""
        self.plans.clear()
        self.__dict__.pop("cuts", None)

    def function(self, missing: frozenset[str] = frozenset()) -> Any:
        """Of the inputs but the missing ones, which are unbound in it as they are in the user's function."""
        made = self._functions.get(missing)
        if made is None:
            there = [name for name in self.inputs if name not in missing]
            made = self._functions[missing] = self._compiled([_ITEMS, *there] if self.items else there, missing)
        return made

    def _compiled(self, parameters: list[str], missing: frozenset[str]) -> Any:
        body, extra = self._body()
        return self.source.make(parameters, [*_unbound(missing | self._missing, body[0]), *body], extra)

    def _body(self) -> tuple[list[ast.stmt], dict[str, Any]]:
        part = self.part
        if isinstance(part, ast.expr):
            value = part if self.role == "value" else _truth(part)
            if self.outs:
                value = _at(ast.Tuple([value, *[ast.Name(name, ast.Load()) for name in self.outs]], ast.Load()), part)
            return [_at(ast.Return(value=value), part)], {}
        last = part[-1]
        if self.role == "simple":
            names = [ast.Name(name, ast.Load()) for name in self.outs]
            result = names[0] if len(names) == 1 else ast.Tuple(list(names), ast.Load()) if names else None
            return [*part, _at(ast.Return(value=result), last)], {}
        if self.items:
            part = [_over_items(part[0])]
        body = _once(part, last)
        return [*body, _at(ending(), last)], {"__argosy_locals__": locals}

    @cached_property
    def escapes(self) -> bool:
        """A break, continue or return in it reaches outside."""
        if isinstance(self.part, ast.expr):
            return False
        finder = _Escapes()
        finder.several(_copy(statement) for statement in self.part)
        return finder.jumps or finder.returns

    @property
    def text(self) -> str:
        if isinstance(self.part, ast.expr):
            return ast.unparse(self.part)
        return ast.unparse(self.part[0]).split("\n")[0]


def _unbound(names: frozenset[str], where: ast.AST) -> list[ast.stmt]:
    """`if False: x = None`: x is a local variable without a value."""
    stores = [_at(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)), where) for name in sorted(names)]
    return [_at(ast.If(test=ast.Constant(False), body=stores, orelse=[]), where)] if stores else []


def _over_items(loop: Any) -> ast.For:
    items = _at(ast.Name(_ITEMS, ast.Load()), loop.iter)
    return _at(ast.For(target=loop.target, iter=items, body=loop.body, orelse=loop.orelse), loop)  # type: ignore[no-any-return]


def _of_rest(part: Any) -> frozenset[str]:
    return names_of([_over_items(part[0])]).exposed


def _copy(node: Any) -> Any:
    """A copy of a syntax tree; expressions, which are not changed, are shared."""
    fields = {}
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            fields[name] = [
                _copy(item) if isinstance(item, (ast.stmt, ast.excepthandler, ast.match_case)) else item
                for item in value
            ]
        else:
            fields[name] = value
    copied = type(node)(**fields)
    return ast.copy_location(copied, node) if hasattr(node, "lineno") else copied


def _at(made: Any, where: ast.AST) -> Any:
    """At the place of another node, the parts of an expression the user wrote keep their own."""
    return ast.copy_location(made, where)


def _truth(test: ast.expr) -> ast.expr:
    return _at(ast.IfExp(test=test, body=_at(ast.Constant(True), test), orelse=_at(ast.Constant(False), test)), test)


def _once(part: Sequence[ast.stmt], where: ast.AST) -> list[ast.stmt]:
    """The statements, in a loop that runs once where a break or continue would reach outside of them."""
    change = _Escapes()
    body = change.several(_copy(statement) for statement in part)
    if not change.jumps:
        return [_status(NEXT, where), *body]
    once = ast.For(
        target=ast.Name(_ONCE, ast.Store()), iter=ast.Tuple([ast.Constant(0)], ast.Load()), body=body, orelse=[]
    )
    return [_status(NEXT, where), _at(once, where)]


def _status(status: int, where: ast.AST) -> Any:
    return _at(ast.Assign([ast.Name(_STATUS, ast.Store())], ast.Constant(status)), where)


def ending() -> ast.stmt:
    """Return how it ended, and all variables that are bound."""
    variables = ast.Call(func=ast.Name("__argosy_locals__", ast.Load()), args=[], keywords=[])
    return ast.Return(value=ast.Tuple([ast.Name(_STATUS, ast.Load()), variables], ast.Load()))


class _Escapes(ast.NodeTransformer):
    """Makes what reaches outside of a compound statement say so: a jump before it leaves, a return by what it gives."""

    def __init__(self) -> None:
        self.jumps = False
        self.returns = False
        self._loops = 0

    def several(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in statements:
            visited: Any = self.visit(statement)
            found += visited if isinstance(visited, list) else [visited]
        return found

    def visit_FunctionDef(self, node: ast.AST) -> ast.AST:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def _visit_loop(self, node: Any) -> ast.AST:
        self._loops += 1
        node.body = self.several(node.body)
        self._loops -= 1
        node.orelse = self.several(node.orelse)
        return node  # type: ignore[no-any-return]

    visit_For = visit_While = visit_AsyncFor = _visit_loop

    def visit_Break(self, node: ast.Break) -> Any:
        return self._jump(node, BREAK)

    def visit_Continue(self, node: ast.Continue) -> Any:
        return self._jump(node, CONTINUE)

    def _jump(self, node: ast.stmt, status: int) -> Any:
        if self._loops:
            return node
        self.jumps = True
        return [_status(status, node), _at(ast.Break(), node)]

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.returns = True
        value = node.value or _at(ast.Constant(None), node)
        pair = _at(ast.Tuple([_at(ast.Constant(RETURN), node), value], ast.Load()), node)
        return _at(ast.Return(value=pair), node)  # type: ignore[no-any-return]
