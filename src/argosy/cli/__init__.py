"""The command line: `argosy COMMAND`, one module for each command.

The module `argosy.cli.NAME` holds the function `NAME`, or a `Typer` where the command has commands of its own; it is
imported when that command is run, so `argosy --help` is instant and one broken command does not take the others with
it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

COMMANDS = {
    "demo": "A tour of the pilot, frames, training, partial exchange, futurized functions and memory on this machine.",
    "bench": "Time joins, sorts and group-bys beside other engines.",
    "scale": "Measure how many workers are worth asking for, and predict it for many more.",
    "memory": "Find out where each object should lie: in fast memory, or in a slower and larger one.",
    "simulate": "Run the pilot's own schedule under a simulated clock, on as many nodes as you like.",
    "top": "Show the ranks, tasks and throughput of a run, live.",
    "report": "Sum up a run, and write its trace for Perfetto.",
    "doctor": "Check this machine: MPI, cores, memory, GPUs, scheduler, folders.",
}


class _Commands(TyperGroup):
    """Knows each command by name and summary; loads the one that is run."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load(str(command.name)), rest


def load(name: str) -> Any:
    """The command of this name, ready to run; a `Typer` is one with commands of its own."""
    found = getattr(import_module(f"argosy.cli.{name}"), name)
    if isinstance(found, typer.Typer):
        return typer.main.get_command(found)
    alone = typer.Typer(add_completion=False)
    alone.command(name)(found)
    return typer.main.get_command(alone)


app = typer.Typer(cls=_Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        from argosy import __version__

        typer.echo(f"argosy {__version__}")
        raise typer.Exit


@app.callback()
def _argosy(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Prepare data and train models inside one allocation of machines."""


for _name, _summary in COMMANDS.items():
    app.command(_name, help=_summary)(lambda: None)


def main() -> None:
    app()
