"""What `f.profile` is: count, seconds and bytes of each source line, and the critical path."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from argosy.tree.explaining.critical import critical_path
from argosy.tree.explaining.record import Recording
from argosy.tree.explaining.rows import rows_of
from argosy.tree.explaining.statements import Statements
from argosy.tree.explaining.table import table
from argosy.tree.explaining.text import heading, shortened
from argosy.tree.piece import Piece
from argosy.tree.source import Source
from argosy.units import format_nbytes, format_seconds

Again = Callable[..., "Profile"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    line: int
    text: str
    count: int
    seconds: float
    nbytes: int | None
    """Of the arrays that it gave; None where the call was not watched."""
    depth: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """Of one call that was watched (by `explain` or `of`), or else of all calls so far, without a critical path.

    Only what ran as expressions or in its turn is told by line: a call so small that it ran plainly leaves nothing.
    """

    function: str
    lines: tuple[Line, ...]
    threads: int
    seconds: float | None = None
    """From the begin of the call to its end; None when it is of several calls."""
    work_seconds: float = 0.0
    """Of all lines and threads together."""
    critical_path: list[tuple[int, float]] = field(default_factory=list)
    """Line and seconds of each run in the longest chain of what waits for what."""
    notes: tuple[str, ...] = ()
    again: Again = field(repr=False)

    @property
    def critical_seconds(self) -> float:
        return sum(taken for _, taken in self.critical_path)

    @property
    def parallelism(self) -> float | None:
        """How many ran at a time, on average; None when it is of several calls."""
        return self.work_seconds / self.seconds if self.seconds else None

    def of(self, /, *args: Any, **kwargs: Any) -> Profile:
        """Call the function once with these arguments, and watch it. Its profile is then this one."""
        return self.again(*args, **kwargs)

    def __str__(self) -> str:
        parts = list(self.notes)
        if self.lines:
            on_path: dict[int, float] = {}
            for line, taken in self.critical_path:
                on_path[line] = on_path.get(line, 0.0) + taken
            head = ("line", "", "runs", "seconds", "bytes", "critical")
            parts += ["", table([head, *[_cells(line, on_path) for line in self.lines]], left=(1,))]
        return "\n".join(parts)

    __repr__ = __str__


def _cells(line: Line, on_path: dict[int, float]) -> tuple[str, ...]:
    return (
        str(line.line),
        shortened(line.text, line.depth),
        str(line.count),
        format_seconds(line.seconds),
        format_nbytes(line.nbytes) if line.nbytes else "",
        format_seconds(on_path[line.line]) if line.line in on_path else "",
    )


def profile_of(recording: Recording, again: Again, notes: Iterable[str] = ()) -> Profile:
    """Of one call."""
    return Profile(
        function=recording.function,
        lines=tuple(
            Line(
                line=row.statement.line,
                text=row.statement.text,
                count=row.count,
                seconds=row.seconds,
                nbytes=row.nbytes,
                depth=row.statement.depth,
            )
            for row in rows_of(recording.runs)
        ),
        threads=recording.num_threads,
        seconds=recording.seconds,
        work_seconds=recording.work_seconds,
        critical_path=[(run.line, run.seconds) for run in critical_path(recording.runs)],
        notes=(*heading(recording), *notes) if recording.runs else tuple(notes),
        again=again,
    )


def profile_so_far(source: Source, pieces: Iterable[Piece], num_threads: int, again: Again) -> Profile:
    """Of all calls that were walked: from what is kept anyway."""
    statements = Statements(source)
    found: dict[tuple[int, int], Line] = {}
    for piece in pieces:
        if not piece.count:
            continue
        statement = statements.of(piece)
        before = found.get((statement.line, statement.column))
        found[statement.line, statement.column] = Line(
            line=statement.line,
            text=statement.text,
            count=piece.count + (before.count if before else 0),
            seconds=piece.seconds + (before.seconds if before else 0.0),
            nbytes=None,
            depth=statement.depth,
        )
    name = source.name
    what = f"all calls of {name} so far" if found else f"nothing of {name} has run as expressions so far"
    notes = (f"{what}; {name}.profile.of(...) and {name}.explain(...) watch one call, with its critical path",)
    lines = tuple(found[place] for place in sorted(found))
    work = sum(line.seconds for line in lines)
    return Profile(function=name, lines=lines, threads=num_threads, work_seconds=work, notes=notes, again=again)
