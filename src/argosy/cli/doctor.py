"""`argosy doctor`: is this machine ready?"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from argosy.cli.doctor_checks import Finding, Mark, examine

STYLES = {Mark.OK: "green", Mark.WARN: "yellow", Mark.MISSING: "red"}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Check this machine: MPI, cores, memory, GPUs, scheduler, folders.

    One line each, with what to do where something is missing. The exit status is 1 when a pilot could not start.

    Example: argosy doctor --json
    """
    findings = examine()
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        Console().print(_table(findings))
    if any(finding.mark is Mark.MISSING for finding in findings):
        raise typer.Exit(1)


def _table(findings: list[Finding]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        text = finding.found + (f"\n-> {finding.todo}" if finding.todo else "")
        table.add_row(Text(finding.mark, style=STYLES[finding.mark]), finding.what, Text(text))
    return table
