"""A syntax tree with one node replaced; the original stays as it is, and what does not hold the node is shared."""

from __future__ import annotations

import ast
import copy
from typing import Any


def replaced(tree: Any, old: ast.AST, new: ast.AST) -> Any:
    if tree is old:
        return new
    if not any(part is old for part in ast.walk(tree)):
        return tree
    made = copy.copy(tree)
    for field, value in ast.iter_fields(tree):
        if isinstance(value, list):
            setattr(made, field, [replaced(item, old, new) if isinstance(item, ast.AST) else item for item in value])
        elif isinstance(value, ast.AST):
            setattr(made, field, replaced(value, old, new))
    return made
