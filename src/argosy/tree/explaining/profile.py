"""What `f.profile` is: count, seconds and bytes of each source line, and the critical path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from argosy.tree.explaining.critical import critical_path
from argosy.tree.explaining.record import Recording
from argosy.tree.explaining.rows import rows_of
from argosy.tree.explaining.statements import Function, Statements, function_of
from argosy.tree.explaining.table import table
from argosy.tree.explaining.text import by_function, heading, shortened
from argosy.tree.program import Program
from argosy.units import format_nbytes, format_seconds

_HEAD = ("line", "", "runs", "seconds", "bytes", "critical")
Again = Callable[..., "Profile"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    function: Function
    line: int
    text: str
    count: int
    seconds: float
    nbytes: int | None
    """Of the arrays that it gave; None where the call was not watched."""
    critical_seconds: float | None = None
    """How much of it is in the critical path, if any."""
    depth: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """Of one call that was watched (by `explain` or `of`), or else of all calls so far, without a critical path.

    Only what ran as expressions or in its turn is told by line: a call so small that it ran plainly leaves nothing.
    """

    function: Function
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
            cells = [(line.function, _cells(line)) for line in self.lines]
            parts += ["", table([_HEAD, *by_function(cells, self.function)], left=(1,))]
        return "\n".join(parts)

    __repr__ = __str__


def _cells(line: Line) -> tuple[str, ...]:
    return (
        str(line.line),
        shortened(line.text, line.depth),
        str(line.count),
        format_seconds(line.seconds),
        format_nbytes(line.nbytes) if line.nbytes else "",
        format_seconds(line.critical_seconds) if line.critical_seconds is not None else "",
    )


def profile_of(recording: Recording, again: Again, notes: Iterable[str] = ()) -> Profile:
    """Of one call."""
    chain = critical_path(recording.runs)
    on_path: dict[Any, float] = {}
    for run in chain:
        on_path[run.statement.place] = on_path.get(run.statement.place, 0.0) + run.seconds
    return Profile(
        function=recording.function,
        lines=tuple(
            Line(
                function=row.statement.function,
                line=row.statement.line,
                text=row.statement.text,
                count=row.count,
                seconds=row.seconds,
                nbytes=row.nbytes,
                critical_seconds=on_path.get(row.statement.place),
                depth=row.statement.depth,
            )
            for row in rows_of(recording.runs)
        ),
        threads=recording.num_threads,
        seconds=recording.seconds,
        work_seconds=recording.work_seconds,
        critical_path=[(run.line, run.seconds) for run in chain],
        notes=(*heading(recording), *notes) if recording.runs else tuple(notes),
        again=again,
    )


def profile_so_far(programs: Sequence[Program], num_threads: int, again: Again) -> Profile:
    """Of all calls that were walked, from what is kept anyway: of the called function, then of those gone into."""
    statements = Statements()
    lines: list[Line] = []
    for program in programs:
        found: dict[Any, Line] = {}
        for piece in [piece for piece in program.pieces.values() if piece.count]:
            statement = statements.of(piece)
            before = found.get(statement.place)
            found[statement.place] = Line(
                function=statement.function,
                line=statement.line,
                text=statement.text,
                count=piece.count + (before.count if before else 0),
                seconds=piece.seconds + (before.seconds if before else 0.0),
                nbytes=None,
                depth=statement.depth,
            )
        lines += [found[place] for place in sorted(found, key=lambda place: place[1:])]
    called = function_of(programs[0].source)
    what = f"all calls of {called.name} so far" if lines else f"nothing of {called.name} has run as expressions so far"
    note = (
        f"{what}; {called.name}.profile.of(...) and {called.name}.explain(...) watch one call, with its critical path"
    )
    work = sum(line.seconds for line in lines)
    return Profile(
        function=called, lines=tuple(lines), threads=num_threads, work_seconds=work, notes=(note,), again=again
    )
