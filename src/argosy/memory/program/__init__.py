"""Traces of whole programs, unmodified: `trace(["./solver", "in.dat"])`, `from_table("samples.parquet")`.

From the stream to the result: `lackey` (lines to accesses), `events` (what was allocated), `counting` (accesses to
counts), `naming` (what objects are called), `valgrind` and `perf` (who runs the program), `tracing` (all of it),
`tables` (samples from elsewhere), `matching` (windows of two runs). Each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME_OF = {
    "ProgramTrace": "result",
    "Progress": "valgrind",
    "Rank": "result",
    "from_table": "tables",
    "match": "matching",
    "trace": "tracing",
}

__all__ = ["ProgramTrace", "Progress", "Rank", "from_table", "match", "trace"]

if TYPE_CHECKING:
    from argosy.memory.program.matching import match
    from argosy.memory.program.result import ProgramTrace, Rank
    from argosy.memory.program.tables import from_table
    from argosy.memory.program.tracing import trace
    from argosy.memory.program.valgrind import Progress


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
