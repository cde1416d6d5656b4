"""Functions in a file of the user's: one by itself where that will do, else the file as a whole, once for all of them.

A file of some thousand lines takes longer to parse and to compile than many calls take.
"""

from __future__ import annotations

import ast
import inspect
import tokenize
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType

from argosy.tree.compiling import codes_within, quietly

Place = tuple[str, int]
"""A function's name and its first line, decorators included."""


class File:
    def __init__(self, text: str, filename: str) -> None:
        self._module = quietly(lambda: ast.parse(text, filename))
        self._filename = filename
        self._codes: dict[int, dict[Place, list[CodeType]]] = {}
        self.functions: dict[Place, list[ast.FunctionDef]] = {}
        for node in ast.walk(self._module):
            if isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *[decorator.lineno for decorator in node.decorator_list]])
                self.functions.setdefault((node.name, first), []).append(node)

    def codes(self, place: Place, flags: int) -> list[CodeType]:
        """Compiled as a whole file, for some code depends on imports."""
        found = self._codes.get(flags)
        if found is None:
            found = self._codes[flags] = {}
            whole = quietly(lambda: compile(self._module, self._filename, "exec", flags, True))
            for code in codes_within(whole):
                found.setdefault((code.co_name, code.co_firstlineno), []).append(code)
        return found.get(place, [])


def found_alone(lines: Sequence[str], code: CodeType, flags: int) -> tuple[ast.FunctionDef, CodeType] | None:
    """A function of a module, and its code compiled anew; None when more than its own lines must be known."""
    if code.co_freevars or code.co_qualname != code.co_name:
        return None
    try:
        block = inspect.getblock(lines[code.co_firstlineno - 1 :])
        text = "\n" * (code.co_firstlineno - 1) + "".join(block)
        module = quietly(lambda: ast.parse(text, code.co_filename))
        whole = quietly(lambda: compile(module, code.co_filename, "exec", flags, True))
    except (SyntaxError, ValueError, tokenize.TokenError):
        return None
    if len(module.body) != 1 or not isinstance(module.body[0], ast.FunctionDef) or module.body[0].name != code.co_name:
        return None
    codes = [one for one in whole.co_consts if isinstance(one, CodeType) and one.co_name == code.co_name]
    return (module.body[0], codes[0]) if len(codes) == 1 else None


@lru_cache(maxsize=16)
def file_of(text: str, filename: str) -> File:
    """Raises what the parser raises."""
    return File(text, filename)
