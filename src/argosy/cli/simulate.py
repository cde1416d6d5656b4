"""`argosy simulate`: the pilot's own schedule under a simulated clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from argosy.pilot.simulate import SimulationResult


def simulate(
    nodes: Annotated[int, typer.Option(help="Nodes of the simulated machine.", min=1)] = 10_000,
    ranks_per_node: Annotated[int, typer.Option(help="Ranks on each of them.", min=1)] = 42,
    tasks: Annotated[
        int, typer.Option(help="Tasks to place: most of one rank, a few of several nodes.", min=1)
    ] = 100_000,
    seed: Annotated[int, typer.Option(help="Seed of the made-up workload.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Run the pilot's own schedule under a simulated clock, on as many nodes as you like.

    The workload is made up and its times are simulated; how fast the schedule decides is measured on this machine.

    Example: argosy simulate --nodes 1000 --tasks 20000
    """
    from argosy.pilot.simulate import simulate as run

    result = run(nodes, ranks_per_node, tasks, seed)
    if json:
        from dataclasses import asdict
        from json import dumps

        typer.echo(dumps(asdict(result)))
        return
    from rich.console import Console

    Console().print(_table(result))


def _table(result: SimulationResult) -> Table:
    from rich.table import Table

    from argosy.units import format_seconds

    table = Table(box=None, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="dim")
    machine = f"{result.nodes:,} nodes x {result.ranks_per_node} ranks"
    for name, value, kind in (
        ("machine", machine, "simulated"),
        ("tasks", f"{result.tasks:,}", f"simulated, seed {result.seed}"),
        ("last start", format_seconds(result.last_start_seconds), "simulated"),
        ("last end", format_seconds(result.makespan_seconds), "simulated"),
        ("mean wait", format_seconds(result.mean_wait_seconds), "simulated"),
        ("in use until last start", f"{result.utilisation_until_last_start:.1%}", "simulated"),
        ("in use until last end", f"{result.utilisation:.1%}", "simulated"),
        ("time to decide", format_seconds(result.wall_seconds), "measured, clock included"),
        ("placements per second", f"{result.placements_per_second:,.0f}", "measured"),
    ):
        table.add_row(name, value, kind)
    return table
