"""`argosy memory trace`: what a program, a mini-app or a table of samples touched."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from argosy.cli.failing import leave
from argosy.cli.memory_asked import App, Folder, Named, Size, find_tiers, find_workload, one_of
from argosy.cli.memory_ending import check_out, one_line, refusing

if TYPE_CHECKING:
    from argosy.memory.program import ProgramTrace, Progress
    from argosy.memory.tiers import Tier
    from argosy.memory.trace import Trace
    from argosy.memory.workload import Workload

_SIGNALLED = 128
"""What shells add to a signal's number for the status of a program that it ended."""
_SOURCES = ("auto", "perf", "valgrind")
_TOLD_EVERY_SECONDS = 10


def trace(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- PROGRAM [ARGUMENTS]...", help="A program, unmodified.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File for the trace, in Arrow's format.")] = None,
    plot: Annotated[Path | None, typer.Option(help="File for a heat map, like heat.png.")] = None,
    source: Annotated[
        str, typer.Option(help="perf samples at full speed where the processor can; valgrind sees every access.")
    ] = "auto",
    windows: Annotated[int, typer.Option(help="Pieces of the run's time, at most.", min=1)] = 50,
    timeout: Annotated[float | None, typer.Option(help="Seconds after which the program is stopped.")] = None,
    app: App = None,
    workload: Named = None,
    size: Size = None,
    folder: Folder = None,
    table: Annotated[
        Path | None, typer.Option(help="CSV or Parquet file of samples: timestamp, address and perhaps phase.")
    ] = None,
) -> None:
    """See which objects a run touches, how much and when.

    A program runs as it is: its output comes first and its exit status is this command's. Then come its objects, named
    by who allocated them, the hottest per byte first. In place of a program: a mini-app or a workload of yours, whose
    windows are marked in its code, or a table of samples from elsewhere.

    Example: argosy memory trace --out trace.arrow --plot heat.png -- ./solver in.dat

    Example: argosy memory trace --app cg --size 64MiB

    Example: argosy memory trace --table samples.csv
    """
    with one_line():
        if sum(each is not None for each in (command or None, app or workload, table)) != 1:
            leave("name one thing to trace: -- ./program, --app NAME, --workload file.py:name or --table FILE")
        one_of("source of traces", source, _SOURCES)
        _check(out, plot)
        if command:
            _trace_program(command, source, windows, timeout, out, plot)
        if table is not None:
            from argosy.memory.program import from_table

            _tell_program(from_table(table, windows=windows), out, plot)
            return
        found = find_workload(app, workload, size)
        fast, slow = find_tiers(app, None, None, folder)
        once = trace_once(found, fast, slow)
        _tell(once, out)
        if plot is not None:
            from argosy.memory.plots import plot_touches

            typer.echo(f"heat map: {plot_touches(once, plot)}")


def trace_once(workload: Workload, fast: Tier, slow: Tier) -> Trace:
    """One run with everything fast, after one that pays for what only happens once."""
    from argosy.memory.workload import traced

    with closing(workload.store(fast=fast, slow=slow)) as store:
        traced(workload, store)
        return traced(workload, store)


def _check(out: Path | None, plot: Path | None) -> None:
    if out is not None:
        check_out(out)
    if plot is not None:
        from argosy.memory.plots import check_plot

        with refusing():
            check_plot(plot)


def _trace_program(
    command: list[str], source: Any, windows: int, timeout: float | None, out: Path | None, plot: Path | None
) -> NoReturn:
    from argosy.memory import program

    traced = program.trace(
        command, source=source, windows=windows, timeout_seconds=timeout, on_progress=_Teller() if _is_seen() else None
    )
    _tell_program(traced, out, plot)
    status = traced.status or 0
    raise typer.Exit(status if status >= 0 else _SIGNALLED - status)


def _tell_program(traced: ProgramTrace, out: Path | None, plot: Path | None) -> None:
    _tell(traced.trace, out)
    for note in traced.notes:
        typer.echo(f"note: {note}")
    if plot is not None:
        typer.echo(f"heat map: {traced.heat.plot(plot)}")


def _tell(trace: Trace, out: Path | None) -> None:
    from rich.console import Console

    from argosy.cli.memory_tables import ranking_table

    if out is not None:
        trace.save(out)
    Console().print(ranking_table(trace))
    if out is not None:
        typer.echo(f"trace: {out}")


def _is_seen() -> bool:
    return sys.stderr.isatty()


class _Teller:
    """A plain line now and then: the program writes to the same terminal, and a bar would tear its output."""

    def __init__(self) -> None:
        self._next = float(_TOLD_EVERY_SECONDS)

    def __call__(self, now: Progress) -> None:
        if now.seconds >= self._next:
            self._next = now.seconds + _TOLD_EVERY_SECONDS
            typer.echo(f"argosy: {now.seconds:.0f} s, {now.accesses / 1e6:.0f} million accesses so far", err=True)
