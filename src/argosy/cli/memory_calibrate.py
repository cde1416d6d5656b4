"""`argosy memory calibrate`: a few measured runs become an estimator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argosy.cli.memory_asked import App, Fast, Folder, Named, Size, Slow, find_tiers, find_workload, one_of
from argosy.cli.memory_ending import check_out, one_line
from argosy.memory.progress import bar

if TYPE_CHECKING:
    from argosy.memory.calibrating import Calibrated
    from argosy.memory.tiers import Tier
    from argosy.memory.workload import Workload

Design = Annotated[
    str | None, typer.Option(help="Placements to run: endpoints, one-at-a-time or random; random unless told.")
]
Repeats = Annotated[int | None, typer.Option(help="Runs of each placement, in interleaved order.", min=1)]
Noise = Annotated[float | None, typer.Option(help="Share by which runs of one placement may differ.", min=0)]
Seed = Annotated[int, typer.Option(help="Of the placements and of the order of runs.")]


def calibrate(
    app: App = None,
    workload: Named = None,
    size: Size = None,
    design: Design = None,
    repeats: Repeats = None,
    law: Annotated[str, typer.Option(help="linear, additive, hinge, or auto: the one with the least error.")] = "auto",
    noise: Noise = None,
    seed: Seed = 0,
    fast: Fast = None,
    slow: Slow = None,
    folder: Folder = None,
    out: Annotated[Path, typer.Option(help="File for the estimator.")] = Path("estimator.json"),
) -> None:
    """Measure a few placements, and learn what every other one would take.

    Runs them in interleaved order, fits a law, and says what each object costs in the slow tier and how far each law
    was off on placements that it had not seen.

    Example: argosy memory calibrate --app cg --size 64MiB --repeats 5 --out cg.json

    Example: argosy memory calibrate --workload study.py:solver --fast ram --slow numa:1
    """
    with one_line():
        check_law(law)
        check_out(out)
        found = find_workload(app, workload, size)
        tiers = find_tiers(app, fast, slow, folder)
        runs = run_calibration(found, tiers, design=design, repeats=repeats, noise=noise, seed=seed)
        estimator = runs.estimator(law)
        estimator.save(out)
        from rich.console import Console

        from argosy.cli.memory_tables import estimator_lines, laws_table, objects_table

        console = Console()
        typer.echo(estimator_lines(estimator) + "\n")
        console.print(objects_table(estimator))
        typer.echo()
        if estimator.errors:
            console.print(laws_table(estimator))
        else:
            typer.echo("no mixed placement was run, so the error of the law is not known")
        typer.echo(f"estimator: {out}")


def check_law(law: str, *more: str) -> None:
    """Before anything is run."""
    from argosy.memory.laws.choose import LAWS

    one_of("law", law, ["auto", *LAWS, *more])


def run_calibration(
    workload: Workload,
    tiers: tuple[Tier, Tier],
    *,
    design: str | None,
    repeats: int | None,
    noise: float | None,
    seed: int,
) -> Calibrated:
    """The runs, under a bar; what is None is as `calibration_runs` has it."""
    from argosy.memory.calibrating import calibration_runs
    from argosy.memory.designs import DESIGNS

    if design is not None:
        one_of("design", design, DESIGNS)
    asked: dict[str, Any] = {"design": design, "repeats": repeats, "noise": noise}
    given = {name: value for name, value in asked.items() if value is not None}
    with bar(f"calibrating {workload.name}") as progress:
        return calibration_runs(workload, **given, fast=tiers[0], slow=tiers[1], seed=seed, progress=progress)
