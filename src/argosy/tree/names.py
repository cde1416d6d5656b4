"""Which local variables a piece of a function reads, binds and surely binds. Pure; looks at the syntax alone.

`Names` of a list of statements has three sets: `exposed`, what may be read before the piece itself has bound it,
`bound`, what it may bind or delete, and `surely`, what is bound whenever the piece ends by falling off its end.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class Names:
    exposed: frozenset[str]
    bound: frozenset[str]
    surely: frozenset[str]


def names_of(statements: Sequence[ast.stmt] | ast.expr) -> Names:
    """Of names in general: the caller keeps those that are local."""
    found = _Found()
    if isinstance(statements, ast.expr):
        assigned: _Assigned = found.expression(statements, set())
    else:
        assigned = found.block(statements, set())
    return Names(frozenset(found.exposed), frozenset(found.bound), frozenset(assigned or ()) - found.deleted)


def free_names(function: ast.AST) -> set[str]:
    """What an inner function, lambda, class or generator expression takes from around it when it runs."""
    if isinstance(function, ast.ClassDef):
        loads = [node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        return {node.id for node in loads}  # its methods do not see the names of the class itself
    if isinstance(function, COMPREHENSIONS):
        found = _Found()
        found.comprehension(function, set())
        return found.exposed
    assert isinstance(function, FUNCTIONS)
    parameters = parameters_of(function.args)
    found = _Found()
    if isinstance(function, ast.Lambda):
        found.expression(function.body, set(parameters))
        return found.exposed
    found.block(function.body, set(parameters))
    outer = {name for node in ast.walk(function) if isinstance(node, ast.Nonlocal) for name in node.names}
    own = found.bound - outer
    return (found.exposed - own) | outer


def parameters_of(arguments: ast.arguments) -> list[str]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    return [argument.arg for argument in every]


def jumps(body: Sequence[ast.stmt]) -> bool:
    """A break, continue or return in it ends an iteration of the loop around early."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Break, ast.Continue, ast.Return)):
            return True
        if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            waiting += [part for part in ast.walk(node) if isinstance(part, ast.Return)]
            waiting += node.orelse
        elif not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return False


def captures(tree: ast.AST) -> Iterable[tuple[ast.AST, set[str]]]:
    """The inner functions, lambdas and classes anywhere in a function's body, with what each takes from around it."""
    for node in ast.walk(tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node is not tree:
            yield node, free_names(node)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's own scope: inner functions and classes are among them, what is in them is not."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)


_UNREACHABLE = None
_Assigned = set[str] | None
"""Names surely bound at a point; None where the point cannot be reached."""


def _meet(*ways: _Assigned) -> _Assigned:
    reached = [way for way in ways if way is not _UNREACHABLE]
    return set.intersection(*reached) if reached else _UNREACHABLE


def _evaluated(node: ast.AST) -> tuple[list[ast.AST], list[ast.AST]]:
    """The parts of an expression that are always evaluated with it, and those that may be skipped."""
    if isinstance(node, ast.BoolOp):
        return list(node.values[:1]), list(node.values[1:])
    if isinstance(node, ast.IfExp):
        return [node.test], [node.body, node.orelse]
    if isinstance(node, ast.Compare):
        return [node.left, node.comparators[0]], list(node.comparators[1:])
    return list(ast.iter_child_nodes(node)), []


class _Found:
    def __init__(self) -> None:
        self.exposed: set[str] = set()
        self.bound: set[str] = set()
        self.deleted: set[str] = set()

    def block(self, statements: Sequence[ast.stmt], assigned: _Assigned) -> _Assigned:
        for statement in statements:
            assigned = self.statement(statement, set() if assigned is _UNREACHABLE else assigned)
        return assigned

    def statement(self, node: ast.stmt, assigned: set[str]) -> _Assigned:
        handler = getattr(self, "_on_" + type(node).__name__.lower(), None)
        if handler is not None:
            result: _Assigned = handler(node, assigned)
            return result
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                assigned = self.expression(child, assigned)
        return assigned

    # expressions: loads are exposed unless assigned; stores are collected and come after the loads

    def expression(self, node: ast.AST | None, assigned: set[str]) -> set[str]:
        if node is None:
            return assigned
        stores: set[str] = set()
        self._look(node, assigned, stores)
        self.bound |= stores
        return assigned | stores

    def _look(self, node: ast.AST, assigned: set[str], stores: set[str], sure: bool = True) -> None:
        """`sure` is False inside what may be skipped: what is bound there is not surely bound."""
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                if node.id not in assigned:
                    self.exposed.add(node.id)
            else:
                stores.add(node.id)
        elif isinstance(node, ast.NamedExpr):
            self._look(node.value, assigned, stores, sure)
            (stores if sure else self.bound).add(node.target.id)
        elif isinstance(node, COMPREHENSIONS):
            self.comprehension(node, assigned, stores, sure)
        elif isinstance(node, ast.Lambda):
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                if default is not None:
                    self._look(default, assigned, stores, sure)
            self.exposed |= free_names(node) - assigned
        else:
            always, maybe = _evaluated(node)
            for child in always:
                self._look(child, assigned, stores, sure)
            for child in maybe:
                self._look(child, assigned, stores, False)

    def comprehension(
        self, node: Comprehension, assigned: set[str], stores: set[str] | None = None, sure: bool = True
    ) -> None:
        stores = set() if stores is None else stores
        inner = set(assigned)
        for generator in node.generators:
            self._look(generator.iter, inner, stores, sure)
            sure = False  # there may be no element
            targets = {name.id for name in ast.walk(generator.target) if isinstance(name, ast.Name)}
            self._look(generator.target, inner | targets, set())
            inner |= targets
            for condition in generator.ifs:
                self._look(condition, inner, stores, False)
        parts: list[Any] = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for part in parts:
            self._look(part, inner, stores, False)

    # statements, each with what is surely bound after it

    def _on_augassign(self, node: ast.AugAssign, assigned: set[str]) -> _Assigned:
        if isinstance(node.target, ast.Name) and node.target.id not in assigned:
            self.exposed.add(node.target.id)
        assigned = self.expression(node.value, assigned)
        return self.expression(node.target, assigned)

    def _on_assign(self, node: ast.Assign, assigned: set[str]) -> _Assigned:
        assigned = self.expression(node.value, assigned)
        for target in node.targets:
            assigned = self.expression(target, assigned)
        return assigned

    def _on_assert(self, node: ast.Assert, assigned: set[str]) -> _Assigned:
        assigned = self.expression(node.test, assigned)
        if node.msg is not None:
            self.expression(node.msg, assigned)
        return assigned

    def _on_annassign(self, node: ast.AnnAssign, assigned: set[str]) -> _Assigned:
        if node.value is None:
            if isinstance(node.target, ast.Name):
                self.bound.add(node.target.id)  # local, though nothing is bound
            return assigned
        assigned = self.expression(node.value, assigned)
        return self.expression(node.target, assigned)

    def _on_delete(self, node: ast.Delete, assigned: set[str]) -> _Assigned:
        for target in node.targets:
            if isinstance(target, ast.Name):
                if target.id not in assigned:
                    self.exposed.add(target.id)
                self.bound.add(target.id)
                self.deleted.add(target.id)
                assigned = assigned - {target.id}
            else:
                assigned = self.expression(target, assigned)
        return assigned

    def _on_return(self, node: ast.Return, assigned: set[str]) -> _Assigned:
        self.expression(node.value, assigned)
        return _UNREACHABLE

    def _on_raise(self, node: ast.Raise, assigned: set[str]) -> _Assigned:
        self.expression(node.exc, assigned)
        self.expression(node.cause, assigned)
        return _UNREACHABLE

    def _on_break(self, node: ast.Break | ast.Continue, assigned: set[str]) -> _Assigned:  # noqa: ARG002
        return _UNREACHABLE

    _on_continue = _on_break

    def _on_if(self, node: ast.If, assigned: set[str]) -> _Assigned:
        assigned = self.expression(node.test, assigned)
        return _meet(self.block(node.body, set(assigned)), self.block(node.orelse, set(assigned)))

    def _on_while(self, node: ast.While, assigned: set[str]) -> _Assigned:
        assigned = self.expression(node.test, assigned)
        self.block(node.body, set(assigned))
        self.block(node.orelse, set(assigned))
        return assigned

    def _on_for(self, node: ast.For, assigned: set[str]) -> _Assigned:
        assigned = self.expression(node.iter, assigned)
        self.block(node.body, self.expression(node.target, assigned))
        self.block(node.orelse, set(assigned))
        return assigned

    _on_asyncfor = _on_for

    def _on_with(self, node: ast.With, assigned: set[str]) -> _Assigned:
        for item in node.items:
            assigned = self.expression(item.context_expr, assigned)
            assigned = self.expression(item.optional_vars, assigned)
        self.block(node.body, set(assigned))  # the context may swallow an exception anywhere in its body
        return assigned

    _on_asyncwith = _on_with

    def _on_try(self, node: ast.Try, assigned: set[str]) -> _Assigned:
        after_body = self.block(node.body, set(assigned))
        ways = [self.block(node.orelse, set() if after_body is _UNREACHABLE else after_body)]
        for handler in node.handlers:
            inner = self.expression(handler.type, set(assigned))
            if handler.name is not None:
                self.bound.add(handler.name)
                inner = inner | {handler.name}
            end = self.block(handler.body, inner)
            ways.append(end if end is _UNREACHABLE or handler.name is None else end - {handler.name})
        after = _meet(*ways)
        ends = self.block(node.finalbody, set(assigned))
        if after is _UNREACHABLE or ends is _UNREACHABLE:
            return _UNREACHABLE
        return after | ends

    _on_trystar = _on_try

    def _on_match(self, node: ast.Match, assigned: set[str]) -> _Assigned:
        assigned = self.expression(node.subject, assigned)
        for case in node.cases:
            inner = set(assigned)
            for part in ast.walk(case.pattern):
                named = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(named, str):
                    self.bound.add(named)
                    inner.add(named)
                if isinstance(part, ast.expr):
                    self.expression(part, assigned)
            self.block(case.body, self.expression(case.guard, inner))
        return assigned

    def _on_functiondef(self, node: ast.FunctionDef, assigned: set[str]) -> _Assigned:
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        annotations = [argument.annotation for argument in every if argument is not None]
        outside = [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults, *annotations, node.returns]
        for outer in outside:
            self.expression(outer, assigned)
        self.exposed |= free_names(node) - assigned - {node.name}
        self.bound.add(node.name)
        return assigned | {node.name}

    _on_asyncfunctiondef = _on_functiondef

    def _on_classdef(self, node: ast.ClassDef, assigned: set[str]) -> _Assigned:
        for outer in [*node.decorator_list, *node.bases, *[word.value for word in node.keywords]]:
            self.expression(outer, assigned)
        self.exposed |= free_names(node) - assigned
        self.bound.add(node.name)
        return assigned | {node.name}

    def _on_import(self, node: ast.Import | ast.ImportFrom, assigned: set[str]) -> _Assigned:
        new = {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        self.bound |= new
        return assigned | new

    _on_importfrom = _on_import
