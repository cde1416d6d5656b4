"""`argosy memory plan`: the best placement for a capacity."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argosy.cli.failing import leave
from argosy.cli.memory_asked import one_of
from argosy.cli.memory_ending import one_line, refusing


def plan(
    estimator: Annotated[Path, typer.Argument(metavar="ESTIMATOR", help="A file from `argosy memory calibrate`.")],
    capacity: Annotated[str, typer.Option(help="Of the fast tier: a share of all objects like 50%, or like 8GiB.")],
    solver: Annotated[
        str,
        typer.Option(
            help="auto, greedy, exact, exhaustive; with migration phases, belady, lru, hysteresis, learned.",
        ),
    ] = "auto",
    must_be_fast: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="An object that must be fast; may be given again.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="File for time against capacity, like curve.png.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the plan as one JSON object.")] = False,
) -> None:
    """Choose the objects that should be in fast memory. All its seconds are predicted.

    Example: argosy memory plan estimator.json --capacity 50% --plot curve.png

    Example: argosy memory plan estimator.json --capacity 8GiB --must-be-fast matrix --json
    """
    with one_line():
        from json import dumps

        from argosy.memory import Estimator
        from argosy.memory import plan as solve
        from argosy.memory.planning.capacity import parse_capacity
        from argosy.memory.planning.solve import SOLVERS

        one_of("solver", solver, SOLVERS)
        if plot is not None:
            from argosy.memory.plots import check_plot

            with refusing():
                check_plot(plot)
        with refusing():
            known = Estimator.load(estimator)
        try:
            nbytes = parse_capacity(capacity, known.costs.nbytes)
        except ValueError as error:
            leave(f"{error}, or as a share of all objects: '50%'")
        with refusing():
            found = solve(known, nbytes, solver=solver, must_be_fast=must_be_fast or ())
        typer.echo(dumps(found.to_json()) if json else str(found))
        if plot is not None:
            from argosy.memory.planning.curves import curve
            from argosy.memory.plots import plot_curve

            title = f"{known.program}: what fast memory is worth (solver {found.solver})"
            path = plot_curve(curve(known, solver=solver), plot, title=title, chosen=(found.capacity, found.seconds))
            without = "; it leaves --must-be-fast out" if must_be_fast else ""
            typer.echo(f"time against capacity: {path}{without}", err=json)
