"""An explanation as text: a table of source lines, then why lines waited or ran in their turn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from argosy.tree.explaining.causes import waits_of
from argosy.tree.explaining.critical import critical_path
from argosy.tree.explaining.record import IN_TURN, Ran, Recording
from argosy.tree.explaining.rows import Row, rows_of
from argosy.tree.explaining.table import table
from argosy.units import format_seconds

_WIDTH = 56
_LOOPS = ("For", "While")
_HEAD = ("line", "", "runs", "seconds", "largest", "overlapped", "where")


def text_of(recording: Recording, notes: Sequence[str] = ()) -> str:
    """`notes` are said of the call as a whole."""
    rows = rows_of(recording.runs)
    parts = [*(heading(recording) if rows or not notes else []), *notes]
    if rows:
        parts += ["", table([_HEAD, *[_cells(row) for row in rows]], left=(1, 6))]
    reasons = [line for row in rows for line in _reasons(row, recording)]
    if reasons:
        parts += ["", *reasons]
    return "\n".join(parts)


def heading(recording: Recording) -> list[str]:
    """Which call, how long it took, and how long it must take."""
    chain = sum(run.seconds for run in critical_path(recording.runs))
    where = f"{recording.function}, line {recording.line} of {PurePath(recording.filename).name}"
    threads = f"{recording.num_threads} thread{'s' if recording.num_threads > 1 else ''}"
    taken, work = format_seconds(recording.seconds), format_seconds(recording.work_seconds)
    return [
        f"{where}: {taken} for {work} of work on {threads}, {recording.parallelism:.2f} at a time",
        f"the longest chain of lines that wait for one another takes {format_seconds(chain)}",
    ]


def shortened(text: str, depth: int) -> str:
    indented = "    " * depth + text
    return indented if len(indented) <= _WIDTH else indented[: _WIDTH - 3] + "..."


def _cells(row: Row) -> tuple[str, ...]:
    return (
        str(row.statement.line),
        shortened(row.statement.text, row.statement.depth),
        str(row.count),
        format_seconds(row.seconds),
        format_seconds(row.most) if row.count > 1 else "",
        f"{row.overlapped:.0%}",
        row.where + (", failed" if row.failed else ""),
    )


def _reasons(row: Row, recording: Recording) -> list[str]:
    turns = [run for run in row.runs if run.where == IN_TURN]
    wholes = [run for run in row.runs if run.where != IN_TURN and run.statement.kind in _LOOPS and _is_long(run)]
    told = dict.fromkeys(
        [f"{_which(run)} in {'their' if _is_long(run) else 'its'} turn: {run.reason}" for run in turns]
    )
    told |= dict.fromkeys([f"{_which(run)} as one expression" for run in wholes])
    return [*told, *map(str, waits_of(row, recording.runs))]


def _which(run: Ran) -> str:
    return f"lines {run.line} to {run.statement.last_line} run" if _is_long(run) else f"line {run.line} runs"


def _is_long(run: Ran) -> bool:
    return run.statement.last_line > run.line
