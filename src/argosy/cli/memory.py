"""`argosy memory`: from a few measured runs to where each object should lie."""

from __future__ import annotations

import typer

from argosy.cli.memory_calibrate import calibrate
from argosy.cli.memory_plan import plan
from argosy.cli.memory_show import show
from argosy.cli.memory_trace import trace
from argosy.cli.memory_validate import validate

memory = typer.Typer(name="memory", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@memory.callback()
def _memory() -> None:
    """Find out where each object should lie: in fast memory, or in a slower and larger one.

    trace says what a run touches; calibrate turns a few measured runs into an estimator of any placement; plan asks
    it for the best placement in a capacity; validate holds it against runs that it has not seen; show reads the files.

    Example: argosy memory calibrate --app cg --out cg.json

    Example: argosy memory plan cg.json --capacity 50%

    Example: argosy memory trace -- ./solver in.dat
    """


# The program of `trace` may have options of its own: after its name nothing is one of ours.
memory.command(context_settings={"allow_interspersed_args": False})(trace)
for _command in (calibrate, plan, validate, show):
    memory.command()(_command)
