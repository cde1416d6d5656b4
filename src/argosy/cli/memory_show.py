"""`argosy memory show`: what is in a trace, an estimator, a plan or a folder of ground truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argosy.cli.failing import leave
from argosy.cli.memory_asked import one_of
from argosy.cli.memory_ending import one_line, refusing

if TYPE_CHECKING:
    from argosy.memory.publishing import Published

_ARROW = b"ARROW1"
_KINDS = "a trace, an estimator, a plan or a folder of `argosy memory validate --save`"


def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A trace, an estimator, a plan or a published folder.")],
    app: Annotated[str | None, typer.Option(help="Of a folder: this program alone, placements and all.")] = None,
    plot: Annotated[Path | None, typer.Option(help="File for its picture, like picture.png.")] = None,
) -> None:
    """Say what is in a file, as a table, and draw it.

    The picture of a trace is its heat map, that of an estimator is time against capacity, and that of published ground
    truth is predicted against measured.

    Example: argosy memory show estimator.json --plot curve.png
    """
    with one_line():
        if plot is not None:
            from argosy.memory.plots import check_plot

            with refusing():
                check_plot(plot)
        if app is not None and not file.is_dir():
            leave(f"--app is for a published folder, and {file} is not a folder")
        drawn = _show(file, app, plot)
        if plot is not None:
            typer.echo(f"picture: {drawn}")


def _show(file: Path, app: str | None, plot: Path | None) -> Path | None:
    """Prints what it is; draws it if asked."""
    if file.is_dir():
        return _folder(file, app, plot)
    with file.open("rb") as opened:
        head = opened.read(len(_ARROW))
    if head == _ARROW:
        return _trace(file, plot)
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError):
        leave(f"{file} is not {_KINDS}")
    kind = str(found.get("format", "")) if isinstance(found, dict) else ""
    if kind.startswith("argosy.memory.estimator"):
        return _estimator(file, plot)
    if kind.startswith("argosy.memory.published"):
        return _folder(file.parent, str(found["app"]), plot)
    if not isinstance(found, dict) or not {"placement", "solver"} <= found.keys():
        leave(f"{file} is not {_KINDS}")
    if plot is not None:
        leave("a plan has no picture of its own; `argosy memory plan ESTIMATOR --plot` draws time against capacity")
    _plan(found)
    return None


def _trace(file: Path, plot: Path | None) -> Path | None:
    from rich.console import Console

    from argosy.cli.memory_tables import ranking_table, windows_table
    from argosy.memory.trace import Trace
    from argosy.units import format_nbytes, format_seconds

    trace = Trace.load(file)
    typer.echo(
        f"trace of {trace.program or 'a program without a name'}: {len(trace.windows)} windows, "
        f"{format_seconds(trace.seconds)}, {len(trace.objects)} objects of {format_nbytes(sum(trace.sizes.values()))}\n"
    )
    console = Console()
    console.print(ranking_table(trace))
    if (windows := windows_table(trace)) is not None:
        typer.echo()
        console.print(windows)
    if plot is None:
        return None
    from argosy.memory.plots import plot_touches

    return plot_touches(trace, plot)


def _estimator(file: Path, plot: Path | None) -> Path | None:
    from rich.console import Console

    from argosy.cli.memory_tables import estimator_lines, laws_table, objects_table
    from argosy.memory import Estimator

    with refusing():
        estimator = Estimator.load(file)
    console = Console()
    typer.echo(f"estimator of {estimator_lines(estimator)}\n")
    console.print(objects_table(estimator))
    if estimator.errors:
        typer.echo()
        console.print(laws_table(estimator))
    if plot is None:
        return None
    from argosy.memory.planning.curves import curve
    from argosy.memory.plots import plot_curve

    return plot_curve(curve(estimator), plot, title=f"{estimator.program}: what fast memory is worth")


def _plan(found: dict[str, Any]) -> None:
    from argosy.memory import Plan

    with refusing():
        typer.echo(f"plan: {Plan.from_json(found)}")


def _folder(folder: Path, app: str | None, plot: Path | None) -> Path | None:
    from rich.console import Console

    from argosy.cli.memory_tables import figures_table
    from argosy.memory.publishing import HELD_OUT, load, published_in

    there = published_in(folder)
    if not there:
        leave(f"nothing is published in {folder}; `argosy memory validate --save {folder}` does it")
    names = there if app is None else [one_of("program", app, there)]
    if plot is not None and len(names) > 1:
        leave(f"{folder} has {len(names)} programs; name the one to draw: --app {' or --app '.join(names)}")
    with refusing():
        every = [load(folder, name) for name in names]
    console = Console()
    console.print(figures_table("app", {each.app: each.figures for each in every}))
    if len(every) > 1:
        return None
    one = every[0]
    _details(one, console)
    if plot is None:
        return None
    from argosy.memory.plots import plot_validation

    title = f"{one.app}, law {one.figures['law']}: {one.figures['mean_error']:.1%} mean error"
    return plot_validation(one.seconds(HELD_OUT), one.seconds(HELD_OUT, "predicted_seconds"), plot, title=title)


def _details(one: Published, console: Any) -> None:
    from argosy.cli.memory_tables import ranking_table, table_of
    from argosy.memory.publishing import CALIBRATION, HELD_OUT
    from argosy.units import format_seconds

    rows = [
        (role, str(len(seconds)), *map(format_seconds, (seconds.min(), seconds.max())))
        for role in (CALIBRATION, HELD_OUT)
        if len(seconds := one.seconds(role))
    ]
    typer.echo()
    console.print(table_of(("placements", "number", "fastest, measured", "slowest, measured"), rows))
    typer.echo()
    console.print(ranking_table(one.trace))
    machine = ", ".join(f"{key} {value}" for key, value in one.figures["machine"].items())
    typer.echo(f"\nmachine: {machine}")
