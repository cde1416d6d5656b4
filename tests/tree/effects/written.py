"""Functions written out as text, with a source that Python's tools find as they find a notebook's cells."""

from __future__ import annotations

import ast
import itertools
import linecache
from typing import Any

from argosy.tree.source import Source, capture

_NUMBERS = itertools.count()


def written(text: str, name: str = "f", **names: Any) -> Any:
    """The function of this name that the text defines, over these globals."""
    filename = f"<written {next(_NUMBERS)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec", dont_inherit=True), names)
    return names[name]


def body(lines: str, parameters: str = "", **names: Any) -> Source:
    """The source of a function of these parameters over these lines."""
    inside = "\n".join("    " + line for line in lines.splitlines())
    return capture(written(f"def f({parameters}):\n{inside}\n", **names))


def statements(lines: str) -> list[ast.stmt]:
    return ast.parse(lines).body
