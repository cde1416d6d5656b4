"""Traces of whole programs, unmodified: `trace(["./solver", "in.dat"])`, `from_table("samples.parquet")`.

From the stream to the result: `lackey` (lines to accesses), `events` (what was allocated), `counting` (accesses to
counts), `naming` (what objects are called), `valgrind` and `perf` (who runs the program), `tracing` (all of it),
`tables` (samples from elsewhere), `matching` (windows of two runs).
"""

from __future__ import annotations

from argosy.memory.program.matching import match
from argosy.memory.program.result import ProgramTrace, Rank
from argosy.memory.program.tables import from_table
from argosy.memory.program.tracing import trace
from argosy.memory.program.valgrind import Progress

__all__ = ["ProgramTrace", "Progress", "Rank", "from_table", "match", "trace"]
