"""`argosy memory validate`: predicted against measured, on placements that the estimator has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argosy.cli.failing import leave
from argosy.cli.memory_asked import App, Fast, Folder, Named, Size, Slow, find_tiers, find_workload, one_of
from argosy.cli.memory_calibrate import Design, Noise, Repeats, Seed, check_law
from argosy.cli.memory_ending import one_line, refusing
from argosy.cli.memory_trace import trace_once

if TYPE_CHECKING:
    from argosy.memory.calibrating import Calibrated
    from argosy.memory.estimator import Estimator
    from argosy.memory.tiers import Tier
    from argosy.memory.validation import Validation
    from argosy.memory.workload import Workload

_OF_A_LAW = ("law", "placements", "mean_error", "largest_error", "within_10_percent", "kendall_tau")
"""Figures that each law has of its own; regret is of plans that were run, and those are of one law."""


def validate(
    app: App = None,
    workload: Named = None,
    size: Size = None,
    placements: Annotated[
        int | None, typer.Option(help="How many to measure; a quarter of them are adversarial.", min=2)
    ] = None,
    seed: Seed = 0,
    design: Design = None,
    repeats: Repeats = None,
    seconds: Annotated[
        float | None, typer.Option(help="For all of it: sets how often each placement runs; 150 unless told.", min=1)
    ] = None,
    law: Annotated[
        str, typer.Option(help="linear, additive, hinge, auto, or all: every law side by side, from the same runs.")
    ] = "auto",
    noise: Noise = None,
    estimator: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Validate this one instead of calibrating first.")
    ] = None,
    fast: Fast = None,
    slow: Slow = None,
    folder: Folder = None,
    plot: Annotated[Path | None, typer.Option(help="File for predicted against measured, like scatter.png.")] = None,
    save: Annotated[Path | None, typer.Option(metavar="DIR", help="Publish trace and ground truth there.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Measure placements that the estimator has not seen, and say how far it may be believed.

    Without --estimator it is calibrated in the same rounds, on other placements. Errors are shares of the measured
    time; regret is how much slower a chosen plan ran than the best placement tried.

    Example: argosy memory validate --app cg --placements 40 --seconds 60

    Example: argosy memory validate --app cg --placements 200 --json

    Example: argosy memory validate --app cg --law all --plot scatter.png --save ground-truth
    """
    with one_line():
        import scipy  # noqa: F401, so that its absence shows before the runs and not after them

        from argosy.memory.calibrating import Calibrated
        from argosy.memory.validating import SECONDS

        check_law(law, "all")
        if save is not None and save.exists() and not save.is_dir():
            leave(f"{save} is a file; name a folder to publish in")
        if plot is not None:
            from argosy.memory.plots import check_plot

            with refusing():
                check_plot(plot)
        found = find_workload(app, workload, size)
        tiers = find_tiers(app, fast, slow, folder)
        asked: dict[str, Any] = {"placements": placements, "repeats": repeats, "seed": seed, "progress": not json}
        asked["seconds"] = SECONDS if seconds is None else seconds
        if estimator is None:
            # as `argosy.memory.validate` has it: noise is told beside the error, and is no reason to say nothing
            allowed = float("inf") if noise is None else noise
            asked |= {"design": design, "noise": allowed, "law": "auto" if law == "all" else law}
            runs: Calibrated | Estimator
            runs, judged = _calibrate_too(found, tiers, asked)
        else:
            runs = _loaded(estimator, law, design)
            judged = _hold_against(runs, found, tiers, asked)
        _tell(judged, _side_by_side(judged, runs) if law == "all" and isinstance(runs, Calibrated) else None, json)
        if plot is not None:
            from argosy.memory.plots import plot_validation

            title = f"{judged.program}, law {judged.law}: {judged.mean_error:.1%} mean error"
            typer.echo(f"scatter: {plot_validation(judged.measured, judged.predicted, plot, title=title)}", err=json)
        if save is not None:
            from argosy.memory.publishing import publish

            paths = publish(save, runs, judged, trace_once(found, *tiers))
            typer.echo(f"published: {', '.join(path.name for path in paths)} in {save}", err=json)


def _loaded(path: Path, law: str, design: str | None) -> Estimator:
    from argosy.memory import Estimator

    with refusing():
        known = Estimator.load(path)
    if law not in ("auto", known.law) or design is not None:
        leave(f"{path} is of law {known.law} and was measured before; leave --law and --design out, or --estimator")
    return known


def _calibrate_too(
    workload: Workload, tiers: tuple[Tier, Tier], asked: dict[str, Any]
) -> tuple[Calibrated, Validation]:
    """What is None is as `calibrate_and_validate` has it."""
    from argosy.memory.designs import DESIGNS
    from argosy.memory.validating import calibrate_and_validate

    if asked["design"] is not None:
        one_of("design", asked["design"], DESIGNS)
    with refusing():
        return calibrate_and_validate(workload, **_given(asked), fast=tiers[0], slow=tiers[1])


def _hold_against(
    estimator: Estimator, workload: Workload, tiers: tuple[Tier, Tier], asked: dict[str, Any]
) -> Validation:
    """What is None is as `argosy.memory.validate` has it."""
    from argosy.memory import validate as hold_against

    with refusing():
        return hold_against(workload, estimator, **_given(asked), fast=tiers[0], slow=tiers[1])


def _given(asked: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if value is not None}


def _side_by_side(judged: Validation, runs: Calibrated) -> dict[str, dict[str, Any]]:
    """The figures of every law, against the same measured placements."""
    from argosy.memory.laws.choose import LAWS

    others = {law: judged.under(runs.estimator(law)) for law in LAWS}
    return {law: {key: other.to_json()[key] for key in _OF_A_LAW} for law, other in others.items()}


def _tell(judged: Validation, laws: dict[str, dict[str, Any]] | None, json: bool) -> None:
    if json:
        from json import dumps

        from argosy.memory.publishing import without_nan

        figures = judged.to_json() | ({} if laws is None else {"laws": laws})
        typer.echo(dumps(without_nan(figures)))
        return
    typer.echo(str(judged))
    if laws is not None:
        from rich.console import Console

        from argosy.cli.memory_tables import figures_table

        typer.echo("\nevery law against the same measured placements:")
        Console().print(figures_table("law", laws))
