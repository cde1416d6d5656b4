"""Why a function runs plainly as a whole: what sees its frame, and inner functions over variables that change. Pure."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from typing import Any

from argosy.tree.names import COMPREHENSIONS, captures, names_of, own_nodes

Reason = tuple[str, int]
"""In words, and the line."""
Place = tuple[int, int]

CONSUMERS = frozenset({"sum", "any", "all", "min", "max", "list", "tuple", "set", "sorted", "dict", "frozenset"})
"""Builtin functions that read a generator expression to its end (or leave it) before they return."""
_FRAME_READERS = {"locals", "vars", "eval", "exec", "dir", "globals", "super", "__class__"}


def refused(
    function: ast.FunctionDef, parameters: Sequence[str], local_names: frozenset[str], global_names: Container[str]
) -> Reason | None:
    for node in ast.walk(function):
        reason = _sees_too_much(node, local_names)
        if reason is not None:
            return reason, getattr(node, "lineno", 0)
    if any(isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)) for node in own_nodes(function)):
        return "a generator or coroutine runs step by step as it is asked", function.lineno
    bound = list(_bindings(function.body, in_loop=False))
    changing = _changing(bound, parameters)
    for node, free in captures(function):
        name = getattr(node, "name", None)
        late = {n for n, place, _ in bound if place > _place(node) and n != name}
        found = sorted(free & (changing | late))
        if found:
            return f"{name or 'a lambda'} uses {found[0]}, which changes after it was made", _place(node)[0]
    for node in ast.walk(function):
        if isinstance(node, ast.GeneratorExp) and not _is_consumed_at_once(function, node, local_names, global_names):
            late = {n for n, place, _ in bound if place > _place(node)}
            found = sorted(names_of(node).exposed & (changing | late))
            if found:
                return f"a generator expression uses {found[0]}, which changes before it is read", node.lineno
    return None


def _sees_too_much(node: ast.AST, local_names: frozenset[str]) -> str | None:
    if isinstance(node, ast.Name) and node.id in _FRAME_READERS and node.id not in local_names:
        return f"{node.id} looks at the running function itself"
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if name.startswith("__") and not name.endswith("__"):
        return f"{name} is a private name of a class"
    if isinstance(node, ast.Nonlocal):
        return f"nonlocal {', '.join(node.names)}: an inner function changes a variable"
    return None


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
