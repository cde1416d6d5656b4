"""Why a function runs plainly as a whole: what sees its frame, or who called it. Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from argosy.tree.names import FUNCTIONS

Reason = tuple[str, int]
"""In words, and the line."""

_FRAME_READERS = {"locals", "eval", "exec", "super", "__class__"}
_OF_NOTHING = {"vars", "dir"}
"""Without arguments they read the frame."""
_COUNTERS = {"getrefcount", "resize"}
_STACK_READERS = {
    "_getframe", "_getframemodulename", "currentframe", "getouterframes", "print_stack", "format_stack",
    "extract_stack", "_current_frames",
}  # fmt: skip


def refused(function: ast.FunctionDef, own: Sequence[ast.AST], local_names: frozenset[str]) -> Reason | None:
    """`own` are the nodes of its own scope."""
    for node in own:
        reason = _sees_too_much(node, local_names)
        if reason is not None:
            return reason, getattr(node, "lineno", 0)
    if any(isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)) for node in own):
        return "a generator or coroutine runs step by step as it is asked", function.lineno
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and _is_private(node.id):
            return f"{node.id} is a private name of a class", node.lineno
        if isinstance(node, ast.arg) and _is_private(node.arg):
            return f"{node.arg} is a private name of a class", node.lineno
    return None


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def _sees_too_much(node: ast.AST, local_names: frozenset[str]) -> str | None:
    if isinstance(node, ast.Name) and node.id in _FRAME_READERS and node.id not in local_names:
        return f"{node.id} looks at the running function itself"
    if isinstance(node, FUNCTIONS) or not isinstance(node, ast.Call):
        return None
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    base = called.value.id if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) else ""
    if name in _OF_NOTHING and isinstance(called, ast.Name) and not (node.args or node.keywords):
        return f"{name}() looks at the running function itself"
    if name in _STACK_READERS or (name == "stack" and base == "inspect"):
        return f"{name} looks at who called"
    if name in _COUNTERS and base not in ("np", "numpy") and (not base or base in local_names or base == "sys"):
        return f"{name} asks who else holds an object"
    levels = [word.value for word in node.keywords if word.arg == "stacklevel"]
    levels += node.args[2:3] if name == "warn" else []
    if any(not (isinstance(level, ast.Constant) and level.value == 1) for level in levels):
        return f"{name} with a stacklevel speaks of who called"
    return None
