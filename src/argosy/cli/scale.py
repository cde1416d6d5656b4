"""`argosy scale`: how many workers are worth asking for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from argosy.cli.failing import leave

if TYPE_CHECKING:
    from argosy.train.study import Findings
    from argosy.train.study.conduct import Tell

_INTERRUPTED = 130
"""The exit status of a program that Ctrl-C has ended."""


def scale(
    task: Annotated[str, typer.Option(help="What is learned: atoms, fold, cifar10 or imagefolder.")] = "atoms",
    workers: Annotated[str, typer.Option(help="Numbers of workers; 1 is the baseline and always there.")] = "1,2,8",
    virtual: Annotated[bool, typer.Option("--virtual", help="Workers share the cores of this machine.")] = False,
    ranks: Annotated[
        int | None, typer.Option(help="Ranks of the pilot; as many as the most workers, or cores.", min=1)
    ] = None,
    seeds: Annotated[int, typer.Option(help="Runs of each number of workers; 2 or more give intervals.", min=1)] = 3,
    targets: Annotated[str, typer.Option(help="Values of the held-out metric, like 0.7,0.8,0.9, or auto.")] = "auto",
    out: Annotated[Path | None, typer.Option(help="Where results go; an interrupted study there goes on.")] = None,
    batch: Annotated[
        int | None, typer.Option(help="Samples of one worker in a step; the task's own unless told.", min=2)
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Samples of a baseline run; the task's own unless told.")] = None,
    lr_rule: Annotated[str, typer.Option(help="Learning rate of larger batches: gain, linear, sqrt, none.")] = "gain",
    data: Annotated[
        Path | None, typer.Option(help="cifar10: a Parquet of JPEGs; imagefolder: a folder like ImageNet's.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as one JSON object.")] = False,
) -> None:
    """Measure how many workers are worth asking for, and predict it for many more.

    Trains with each number of workers and each seed, measures the gradient noise scale on the way, and sets measured
    and modelled figures side by side: the ceiling of learning speed-up first, then a table, and plots in the folder.

    Example: argosy scale --task atoms --workers 1,2,8,64 --virtual --seeds 5 --out atoms-study
    """
    from argosy.errors import ArgosyError
    from argosy.train.study import Settings, study

    folder = out or Path(f"scale-{task}")
    try:
        settings = Settings(
            task=task,
            workers=_numbers(workers),
            seeds=seeds,
            virtual=virtual,
            batch=batch,
            budget=budget,
            lr_rule=lr_rule,
            targets=None if targets == "auto" else _values(targets),
            data=None if data is None else str(data.absolute()),
        )
        with _progress() as tell:
            findings = study(settings, folder, ranks=ranks, tell=tell)
        _show(findings, folder, json)
    except KeyboardInterrupt:
        again = " ".join(["argosy", *_quoted(sys.argv[1:])])
        typer.echo(f"\nargosy: stopped; the runs that were done are in {folder}. Go on with: {again}", err=True)
        raise typer.Exit(_INTERRUPTED) from None
    except ImportError as error:
        leave(f"{error}; training needs torch: pip install 'argosy[train]'")
    except (ArgosyError, OSError) as error:
        leave(str(error))


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        _refuse(f"workers are whole numbers with commas between them, like 1,2,8; not {text!r}")


def _values(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        _refuse(f"targets are 'auto', or values of the metric with commas between them, like 0.7,0.8; not {text!r}")


def _refuse(message: str) -> NoReturn:
    raise typer.BadParameter(message)


def _quoted(words: list[str]) -> list[str]:
    from shlex import quote

    return [quote(word) for word in words]


@contextmanager
def _progress() -> Iterator[Tell]:
    """Bars on stderr: one for the baseline, one for the others."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bars: dict[str, int] = {}

        def tell(what: str, done: int, total: int) -> None:
            if what not in bars:
                bars[what] = progress.add_task(what, total=total)
            progress.update(bars[what], completed=done)  # type: ignore[arg-type]

        yield tell


def _show(findings: Findings, folder: Path, json: bool) -> None:
    if json:
        from json import dumps

        typer.echo(dumps(findings.as_dict()))
        return
    from argosy.train.study.table import table_of

    typer.echo(table_of(findings))
    typer.echo(f"study.json, table.txt, plots and a ledger of each run are in {folder}")
