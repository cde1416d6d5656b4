"""`argosy bench shuffle`: accuracy against the share of samples that workers exchange."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from argosy.cli.failing import or_leave

if TYPE_CHECKING:
    from argosy.bench.locality.findings import Row
    from argosy.bench.locality.plan import Plan

T = TypeVar("T", int, float, str)
QUICK = {"seeds": 2, "fractions": (0.0, 0.1, 1.0), "shards": ("sorted",), "norms": ("local",), "every": (1,)}
"""What `--quick` asks for, unless told otherwise."""
_WIDTH = 110
"""Of the table: cells that are broken in two cannot be read."""


def bench_shuffle(given: dict[str, Any], out: Path | None, device: str, quick: bool, json: bool) -> None:
    """`given`: fields of a plan, as they were written on the command line; those that are None were not."""
    from argosy.bench.locality.conduct import conduct
    from argosy.bench.locality.plan import Plan

    told = {name: value for name, value in given.items() if value is not None}
    for name, kind in (("fractions", float), ("shards", str), ("norms", str), ("every", int)):
        if name in told:
            told[name] = _parts_of(name, told[name], kind)
    plan = replace(Plan(), **{**(QUICK if quick else {}), **told})
    folder = out or Path(f"shuffle-{plan.task}")
    rows = or_leave(conduct, plan, folder, device=device, tell=lambda line: typer.echo(line, err=True))
    if json:
        from json import dumps

        typer.echo(dumps([row.as_dict() for row in rows]))
        return
    _show(plan, rows)
    typer.echo(f"runs.jsonl, table.md, findings.json and the plot are in {folder}")


def _parts_of(name: str, text: str, kind: Callable[[str], T]) -> tuple[T, ...]:
    try:
        return tuple(kind(part.strip()) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{name} are numbers with commas between them, not {text!r}") from None


def _show(plan: Plan, rows: Sequence[Row]) -> None:
    from rich.console import Console
    from rich.table import Table

    from argosy.bench.locality.table import LEGEND, head, lines, title_of

    console = Console(highlight=False)
    console.width = max(console.width, _WIDTH)
    table = Table(box=None, pad_edge=False)
    for number, name in enumerate(head(plan)):
        table.add_column(name, justify="left" if number < 3 else "right")
    for cells in lines(plan, rows):
        table.add_row(*cells)
    console.print(title_of(plan), soft_wrap=True, markup=False)
    console.print(table)
    console.print(LEGEND.replace("`", ""), soft_wrap=True, markup=False)
