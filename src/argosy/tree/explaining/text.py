"""An explanation as text: a table of source lines, then why lines waited or ran in their turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from argosy.tree.explaining.causes import waits_of
from argosy.tree.explaining.critical import critical_path
from argosy.tree.explaining.record import IN_TURN, Ran, Recording
from argosy.tree.explaining.rows import Row, rows_of
from argosy.tree.explaining.statements import Function
from argosy.tree.explaining.table import table
from argosy.units import format_seconds

_WIDTH = 56
_LOOPS = ("For", "While")
_HEAD = ("line", "", "runs", "seconds", "largest", "overlapped", "where")


def text_of(recording: Recording, notes: Sequence[str] = ()) -> str:
    """`notes` are said of the call as a whole."""
    rows, has_reasons = rows_of(recording.runs), False
    parts = [*(heading(recording) if rows or not notes else []), *notes]
    if rows:
        cells = [(row.statement.function, _cells(row)) for row in rows]
        parts += ["", table([_HEAD, *by_function(cells, recording.function)], left=(1, 6))]
    function = recording.function
    for row in rows:
        reasons = _reasons(row, recording)
        if reasons and row.statement.function != function:
            parts += ["", f"in {row.statement.function.name}:"]
            function = row.statement.function
        elif reasons and not has_reasons:
            parts.append("")
        has_reasons = has_reasons or bool(reasons)
        parts += reasons
    return "\n".join(parts)


def heading(recording: Recording) -> list[str]:
    """Which call, how long it took, and how long it must take."""
    chain = sum(run.seconds for run in critical_path(recording.runs))
    threads = f"{recording.num_threads} thread{'s' if recording.num_threads > 1 else ''}"
    taken, work = format_seconds(recording.seconds), format_seconds(recording.work_seconds)
    return [
        f"{recording.function}: {taken} for {work} of work on {threads}, {recording.parallelism:.2f} at a time",
        f"the longest chain of lines that wait for one another takes {format_seconds(chain)}",
    ]


def by_function(rows: Sequence[tuple[Function, tuple[str, ...]]], called: Function) -> Iterator[tuple[str, ...]]:
    """The cells of each row; before those of another function than the called one, its name."""
    for function, group in groupby(rows, key=lambda row: row[0]):
        found = [cells for _, cells in group]
        if function != called:
            yield ("", str(function), *[""] * (len(found[0]) - 2))
        yield from found


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
