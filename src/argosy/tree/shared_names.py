"""Local variables that an inner function, or a generator that is read later, sees change. Pure; syntax alone."""

from __future__ import annotations

import ast
import copy
from collections.abc import Container, Iterator, Sequence
from typing import Any

from argosy.tree.names import COMPREHENSIONS, captures, names_of
from argosy.tree.refused import Reason

Place = tuple[int, int]
_CATCHING = (ast.Try, ast.TryStar, ast.With)

CONSUMERS = frozenset({"sum", "any", "all", "min", "max", "list", "tuple", "set", "sorted", "dict", "frozenset"})
"""Builtin functions that read a generator expression to its end (or leave it) before they return."""


def shared_names(
    function: ast.FunctionDef, parameters: Sequence[str], local_names: frozenset[str], global_names: Container[str]
) -> frozenset[str]:
    bound = list(_bindings(function.body, in_loop=False))
    changing = _changing(bound, parameters)
    changing |= {name for node in ast.walk(function) if isinstance(node, ast.Nonlocal) for name in node.names}
    found: set[str] = set()
    for node, free in captures(function):
        name = getattr(node, "name", None)
        found |= free & (changing | {n for n, place, _ in bound if place > _place(node) and n != name})
    for node in ast.walk(function):
        if isinstance(node, ast.GeneratorExp) and not _is_consumed_at_once(function, node, local_names, global_names):
            late = {n for n, place, _ in bound if place > _place(node)}
            found |= names_of(node).exposed & (changing | late)
    return frozenset(found)


def caught_unbound(
    function: ast.FunctionDef, own: Sequence[ast.AST], shared: frozenset[str], parameters: Sequence[str]
) -> Reason | None:
    """A shared variable that may have no value where an exception could be caught: a piece would raise another one."""
    tried = [node for node in own if isinstance(node, _CATCHING)]
    if not shared or not tried:
        return None
    around = _WithoutInner().visit(copy.deepcopy(function))
    unbound = {part.id for part in ast.walk(function) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Del)}
    unbound |= {str(part.name) for part in ast.walk(function) if isinstance(part, ast.ExceptHandler)}
    unbound |= names_of(around.body).exposed - set(parameters)
    for node in tried:
        found = sorted(shared & unbound & {part.id for part in ast.walk(node) if isinstance(part, ast.Name)})
        if found:
            return f"{found[0]}, a variable of an inner function too, may have no value here", node.lineno
    return None


class _WithoutInner(ast.NodeTransformer):
    """What is in inner functions and classes is not evaluated where they stand."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name and not hasattr(self, "_outermost"):
            self._outermost = node
            return self.generic_visit(node)
        node.body = [ast.copy_location(ast.Pass(), node)]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [ast.copy_location(ast.Pass(), node)]
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.body = ast.copy_location(ast.Constant(None), node)
        return node


def _place(node: Any) -> Place:
    return node.lineno, node.col_offset


def _bindings(nodes: Any, in_loop: bool) -> Iterator[tuple[str, Place, bool]]:
    """Every place of a function's own scope at which a name is bound or deleted, and whether it is in a loop."""
    for node in nodes if isinstance(nodes, list) else [nodes]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, _place(node), in_loop
            yield from _bindings([*node.decorator_list], in_loop)
        elif isinstance(node, ast.Lambda):
            continue
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield (alias.asname or alias.name).split(".")[0], _place(node), in_loop
        elif isinstance(node, COMPREHENSIONS):
            inner = [part for part in ast.walk(node) if isinstance(part, ast.NamedExpr)]
            yield from ((part.target.id, _place(part), True) for part in inner)
        else:
            yield from _bound_by(node, in_loop)
            inside = in_loop or isinstance(node, (ast.For, ast.While, ast.AsyncFor))
            yield from _bindings(list(ast.iter_child_nodes(node)), inside)


def _bound_by(node: ast.AST, in_loop: bool) -> Iterator[tuple[str, Place, bool]]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id, _place(node), in_loop
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name is not None:
        yield node.name, _place(node), True  # bound and deleted, or maybe
    elif isinstance(node, ast.MatchMapping) and node.rest is not None:
        yield node.rest, _place(node), in_loop


def _changing(bound: list[tuple[str, Place, bool]], parameters: Sequence[str]) -> set[str]:
    """Variables that are bound more than once."""
    count = dict.fromkeys(parameters, 1)
    for name, _, in_loop in bound:
        count[name] = count.get(name, 0) + (2 if in_loop else 1)
    return {name for name, times in count.items() if times > 1}


def _is_consumed_at_once(
    tree: ast.AST, generator: ast.GeneratorExp, local_names: frozenset[str], global_names: Container[str]
) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.args) == 1 and node.args[0] is generator:
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            by_builtin = name in CONSUMERS and name not in local_names and name not in global_names
            return by_builtin or (isinstance(node.func, ast.Attribute) and node.func.attr == "join")
    return False
