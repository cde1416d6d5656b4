"""Calls that a walk went into, as they would stand in a traceback."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from argosy.tree.source import Source


@dataclass(frozen=True, slots=True)
class CallSite:
    source: Source
    node: ast.Call

    def entry(self, following: TracebackType | None) -> TracebackType:
        """The line of a traceback that says that this call was under way."""
        raising = ast.copy_location(ast.Raise(exc=ast.Name(_ERROR, ast.Load()), cause=None), self.node)
        function = self.source.make([_ERROR], [raising])
        try:
            function(_Here())
        except _Here as here:
            made = here.__traceback__
        assert made is not None
        assert made.tb_next is not None
        inner = made.tb_next
        return TracebackType(following, inner.tb_frame, inner.tb_lasti, inner.tb_lineno)


class _Here(Exception):
    pass


_ERROR = "__argosy_error__"


def with_site(error: Any, site: CallSite) -> Any:
    """The error, with the call it came from before its own lines."""
    return error.with_traceback(site.entry(error.__traceback__))
