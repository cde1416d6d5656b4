"""`argosy report`: what became of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from argosy.cli.failing import leave, or_leave
from argosy.events import FILE_NAME
from argosy.report.live import TASK_STATES
from argosy.report.runs import find_run
from argosy.report.summary import Summary, summarise
from argosy.report.tail import Tail
from argosy.report.trace import trace
from argosy.units import format_seconds

NUM_FAILURES_SHOWN = 10


def report(
    run: Annotated[Path | None, typer.Argument(help="Folder of a run; the newest run when left out.")] = None,
    trace_file: Annotated[
        Path | None,
        typer.Option("--trace", help="File for the trace; by default trace.json in the run's folder."),
    ] = None,
) -> None:
    """Sum up a run, and write its trace for Perfetto.

    Open the trace at ui.perfetto.dev: a process is a node, a thread a rank, a slice one attempt of a task.

    Example: argosy report --trace trace.json
    """
    folder = or_leave(find_run, run)
    tail = Tail(folder / FILE_NAME)
    events = or_leave(tail.read)
    if not events:
        leave(f"{tail.path} holds no event yet")
    console = Console()
    console.print(_table(summarise(events)))
    if tail.num_unreadable:
        console.print(f"{tail.num_unreadable} lines of {tail.path} are no events and were left out", style="yellow")
    target = trace_file or folder / "trace.json"
    or_leave(target.write_text, json.dumps(trace(events)), encoding="utf-8")
    typer.echo(f"trace: {target} (open it at ui.perfetto.dev)")


def _table(summary: Summary) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    tasks = [f"{summary.tasks[state]} {state}" for state in TASK_STATES if state in summary.tasks]
    table.add_row("run", Text(summary.name or "without a name"))
    table.add_row("time", format_seconds(summary.seconds) + ("" if summary.ended else " so far: no end is recorded"))
    table.add_row("ranks", f"{summary.num_ranks}, {summary.num_ranks_lost} lost")
    table.add_row("tasks", ", ".join(tasks) or "none")
    table.add_row("retries", str(summary.num_retries))
    table.add_row("median wait", _seconds(summary.median_wait_seconds))
    table.add_row("median run", _seconds(summary.median_run_seconds))
    table.add_row(
        "utilisation", "-" if summary.utilisation is None else f"{summary.utilisation:.1%} of the ranks' time"
    )
    for name, error in summary.failures[:NUM_FAILURES_SHOWN]:
        table.add_row("failed", Text(f"{name}: {error.strip() or 'no reason given'}"))
    if len(summary.failures) > NUM_FAILURES_SHOWN:
        table.add_row("", f"and {len(summary.failures) - NUM_FAILURES_SHOWN} more")
    return table


def _seconds(seconds: float | None) -> str:
    return "-" if seconds is None else format_seconds(seconds)
