"""A statement taken apart where one call is made on what another gives: `rows.filter(x).collect()`. Pure.

What the inner call gives is known only when it is there, so the statement as a whole cannot be analysed, but its parts
can: the inner ones are evaluated first, as Python does, under names of their own.
"""

from __future__ import annotations

import ast
from typing import Any

from argosy.tree.replaced import replaced
from argosy.tree.source import HIDDEN_NAMES


def taken_apart(node: Any) -> tuple[list[tuple[str, ast.expr]], Any] | None:
    """Expressions to evaluate first, with the names they get, and what is left of a statement or expression."""
    value = node if isinstance(node, ast.expr) else getattr(node, "value", None)
    if value is None or isinstance(node, ast.AugAssign) or any(isinstance(n, ast.NamedExpr) for n in ast.walk(node)):
        return None
    inner = [part for part in _parts(value) if _has_call(part)]
    if not inner or len(inner) > len(HIDDEN_NAMES) or not _in_order(_parts(value), inner):
        return None
    first = []
    for name, part in zip(HIDDEN_NAMES, inner, strict=False):
        first.append((name, part))
        node = replaced(node, part, ast.copy_location(ast.Name(name, ast.Load()), part))
    return first, node


def _parts(value: ast.expr) -> list[ast.expr]:
    """What is evaluated before the value itself, in Python's order."""
    if isinstance(value, ast.Call):
        if any(isinstance(argument, ast.Starred) for argument in value.args) or any(
            w.arg is None for w in value.keywords
        ):
            return []
        receiver = [value.func.value] if isinstance(value.func, ast.Attribute) else []
        return [*receiver, *value.args, *[word.value for word in value.keywords]]
    if isinstance(value, (ast.Attribute, ast.Subscript)):
        return [value.value]
    if isinstance(value, ast.BinOp):
        return [value.left, value.right]
    if isinstance(value, ast.Compare) and len(value.comparators) == 1:
        return [value.left, *value.comparators]
    return []


def _has_call(node: ast.expr) -> bool:
    """A call or an operator on one, evaluated at once and for sure."""
    if isinstance(node, ast.Call):
        return True
    if isinstance(node, (ast.BinOp, ast.Compare, ast.Attribute, ast.Subscript)):
        return any(_has_call(part) for part in _parts(node))
    return False


def _in_order(parts: list[ast.expr], inner: list[ast.expr]) -> bool:
    """What stays is names and constants: whether they are looked up before or after does not matter."""
    return all(part in inner or _is_still(part) for part in parts)


def _is_still(node: ast.expr) -> bool:
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(_is_still(element) for element in node.elts)
    if isinstance(node, ast.Dict):
        return all(part is not None and _is_still(part) for part in [*node.keys, *node.values])
    return isinstance(node, (ast.Name, ast.Constant, ast.Lambda))
