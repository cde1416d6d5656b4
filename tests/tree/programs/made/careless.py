"""A wrong `futurize`: it swaps neighbouring statements that have no name in common, as if names were all that meets."""

from __future__ import annotations

import ast
import inspect
import textwrap
from types import FunctionType
from typing import Any


def careless(function: Any, /) -> FunctionType:
    """The function with statements swapped; lines and names stay as they were."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                _swap(value)
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    namespace: dict[str, FunctionType] = {}
    exec(compile(tree, function.__code__.co_filename, "exec"), function.__globals__, namespace)
    return namespace[function.__name__]


def _swap(block: list[ast.stmt]) -> None:
    at = 0
    while at + 1 < len(block):
        first, second = block[at : at + 2]
        if isinstance(first, ast.Assign | ast.AugAssign) and isinstance(second, ast.Assign | ast.AugAssign):
            one, other = _names(first), _names(second)
            if not (one[0] & (other[0] | other[1]) or one[1] & other[0]):
                block[at], block[at + 1] = second, first
                at += 1
        at += 1


def _names(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """Names that it writes (also by a store into what they name), and names that it reads."""
    written = {
        node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            written.add(node.value.id)
    return written, {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
