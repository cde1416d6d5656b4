"""What the syntax of statements says about parallelism inside of them. Pure; a guess, on which no answer depends."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from argosy.tree.names import names_of

LOOPS = (ast.For, ast.While)
_WORK = (ast.Call, ast.BinOp, ast.Compare)


def worth_entering(statements: Sequence[ast.stmt], repeats: bool = False) -> bool:
    """Two statements that need not wait for one another, or something inside that can be forked.

    `repeats`: it is the body of a loop, so statements of one round may overlap with those of the next.
    """
    if any(_inside(statement) for statement in statements):
        return True
    return _has_independent_pair([*statements, *statements] if repeats else statements)


def _inside(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.For) and may_fork(statement):
        return True
    if isinstance(statement, (*LOOPS, ast.If)):
        body = worth_entering(statement.body, isinstance(statement, ast.For))
        return body or worth_entering(statement.orelse)
    return False


def may_fork(loop: ast.For) -> bool:
    """A loop without early exits that stores at its loop variable, with work in it."""
    if loop.orelse or not isinstance(loop.target, ast.Name) or not _has_work(loop.body):
        return False
    if any(isinstance(node, (ast.Break, ast.Return, ast.Yield, ast.Try, ast.With)) for node in _walk(loop.body)):
        return False
    stores = [node for node in _walk(loop.body) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)]
    return any(_mentions(store.slice, loop.target.id) for store in stores)


def may_write(function: ast.AST) -> bool:
    """Stores at an index, augmented assignments, or calls for no result: something is likely to be written in place."""
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            return True
    return False


def _has_independent_pair(statements: Sequence[ast.stmt]) -> bool:
    depends: list[set[int]] = []
    names = [names_of([statement]) for statement in statements]
    stored = [_stored_into(statement) for statement in statements]
    heavy = [_has_work([statement]) for statement in statements]
    for number, own in enumerate(names):
        needs: set[int] = set()
        for earlier in range(number):
            made = names[earlier].bound | stored[earlier]  # a name that is bound anew is another version
            if made & (own.exposed | stored[number]) or stored[number] & (names[earlier].exposed | made):
                needs |= {earlier} | depends[earlier]
        depends.append(needs)
        if heavy[number] and any(heavy[earlier] and earlier not in needs for earlier in range(number)):
            return True
    return False


def _stored_into(statement: ast.stmt) -> set[str]:
    """Names of arrays and lists that are stored into, or whose methods are called for no result."""
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            found.add(node.value.id)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
                found.add(function.value.id)
    return found


def _has_work(statements: Sequence[ast.stmt]) -> bool:
    return any(isinstance(node, _WORK) for node in _walk(statements))


def _walk(statements: Sequence[ast.stmt]) -> list[ast.AST]:
    return [node for statement in statements for node in ast.walk(statement)]


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))
