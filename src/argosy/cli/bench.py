"""`argosy bench`: frames beside other engines, the published benchmark of Radical-Cylon, and the study of shuffling."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from argosy.cli.failing import leave

if TYPE_CHECKING:
    from rich.table import Table

    from argosy.bench.compare import Comparison
    from argosy.bench.cylon import CylonResult, Operation

_SHUFFLE = "shuffle"
"""The panel of its options, which all other benchmarks do without."""


def bench(
    what: Annotated[
        list[str],
        typer.Argument(help="Some of join, sort, group_by, string_join, null_join; cylon [join] [sort]; or shuffle."),
    ],
    rows: Annotated[int, typer.Option(help="Rows of each table.", min=1)] = 10_000_000,
    ranks: Annotated[int, typer.Option(help="Ranks here, threads or workers of the others.", min=1)] = 2,
    against: Annotated[str, typer.Option(help="Engines to compare with, of those that are installed.")] = (
        "polars,duckdb,dask,ray"
    ),
    rounds: Annotated[int, typer.Option(help="Rounds that count, of each side in turn.", min=1)] = 5,
    weak: Annotated[int | None, typer.Option(help="cylon: so many rows on each rank.", min=1)] = None,
    strong: Annotated[int | None, typer.Option(help="cylon: so many rows on all ranks together.", min=1)] = None,
    iterations: Annotated[int, typer.Option(help="cylon: how often.", min=1)] = 10,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON list.")] = False,
    task: Annotated[str | None, typer.Option(help="atoms or cifar10.", rich_help_panel=_SHUFFLE)] = None,
    workers: Annotated[
        int | None, typer.Option(help="Virtual ones, all in this process; 64 unless told.", rich_help_panel=_SHUFFLE)
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Runs of each kind; 2 or more can be tested.", rich_help_panel=_SHUFFLE)
    ] = None,
    fractions: Annotated[
        str | None, typer.Option(help="Shares exchanged, like 0,0.1,1; 1 is global.", rich_help_panel=_SHUFFLE)
    ] = None,
    shards: Annotated[
        str | None, typer.Option(help="Some of random,sorted,dirichlet.", rich_help_panel=_SHUFFLE)
    ] = None,
    norm: Annotated[
        str | None, typer.Option(help="BatchNorm: local,averaged,synchronised,none.", rich_help_panel=_SHUFFLE)
    ] = None,
    every: Annotated[
        str | None, typer.Option(help="Steps between two means of the workers, like 1,16.", rich_help_panel=_SHUFFLE)
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="The task's own unless told.", rich_help_panel=_SHUFFLE)] = None,
    samples: Annotated[
        int | None, typer.Option(help="Of all workers; the task's own unless told.", rich_help_panel=_SHUFFLE)
    ] = None,
    batch: Annotated[
        int | None, typer.Option(help="Samples of a worker in a step; likewise.", rich_help_panel=_SHUFFLE)
    ] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate; likewise.", rich_help_panel=_SHUFFLE)] = None,
    data: Annotated[
        Path | None, typer.Option(help="cifar10: a Parquet file of JPEGs.", rich_help_panel=_SHUFFLE)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where results go; a stopped study there goes on.", rich_help_panel=_SHUFFLE)
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.", rich_help_panel=_SHUFFLE)] = "auto",
    quick: Annotated[
        bool, typer.Option("--quick", help="A small grid, in about a minute.", rich_help_panel=_SHUFFLE)
    ] = False,
) -> None:
    """Time joins, sorts and group-bys beside other engines.

    All tables are in memory on both sides. The sides take turns, and what they answer is checked to be equal.

    cylon is the published benchmark of Radical-Cylon.

    shuffle trains with several shares of samples exchanged between epochs, and says where that is as good as a global
    shuffle.

    Example: argosy bench join sort --rows 1_000_000 --against polars,duckdb

    Example: argosy bench cylon join --weak 35_000_000

    Example: argosy bench shuffle --task atoms --shards sorted --norm local --seeds 5
    """
    from argosy.errors import ArgosyError

    try:
        if what[0] == "cylon":
            _cylon(what[1:], weak, strong, ranks, iterations, json)
        elif what == ["shuffle"]:
            from argosy.cli.bench_shuffle import bench_shuffle

            given = {"task": task, "workers": workers, "seeds": seeds, "fractions": fractions, "shards": shards}
            more = {"norms": norm, "every": every, "epochs": epochs, "samples": samples, "batch": batch, "lr": lr}
            bench_shuffle({**given, **more, "data": data}, out, device, quick, json)
        else:
            _compare(what, rows, ranks, against, rounds, json)
    except ArgosyError as error:
        leave(str(error))


def _compare(what: list[str], rows: int, ranks: int, against: str, rounds: int, json: bool) -> None:
    from rich.console import Console

    from argosy.bench.cases import CASES
    from argosy.bench.compare import compare, peers_of

    if unknown := [name for name in what if name not in CASES]:
        _refuse(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(CASES)}, cylon and shuffle")
    try:
        peers, missing = peers_of([name for name in against.split(",") if name])
    except ValueError as error:
        _refuse(str(error))
    if missing:
        typer.echo(f"skipped, as not installed: {', '.join(missing)}", err=True)
    results = []
    for name in what:
        with Console(stderr=True).status(name, refresh_per_second=1) as status:
            results.append(compare(CASES[name], rows, ranks, peers, rounds, status.update))
        if not json:
            _show_comparison(results[-1])
    if json:
        from json import dumps

        typer.echo(dumps([result.as_dict() for result in results]))


def _cylon(names: list[str], weak: int | None, strong: int | None, ranks: int, iterations: int, json: bool) -> None:
    from argosy.bench.cylon import OPERATIONS, run_cylon

    operations: list[Operation] = [one for one in OPERATIONS if one in names or not names]
    if unknown := [name for name in names if name not in OPERATIONS]:
        _refuse(f"cylon has no {', '.join(unknown)}; it has {' and '.join(OPERATIONS)}")
    if weak is not None and strong is not None:
        _refuse("cylon is either --weak, rows on each rank, or --strong, rows on all of them; not both")
    results = []
    for operation in operations:
        if strong is None:
            results.append(run_cylon(operation, "weak", weak or 35_000_000, ranks, iterations))
        else:
            results.append(run_cylon(operation, "strong", strong, ranks, iterations))
        if not json:
            _show_cylon(results[-1])
    if json:
        from json import dumps

        typer.echo(dumps([result.as_dict() for result in results]))


def _refuse(message: str) -> NoReturn:
    raise typer.BadParameter(message)


def _show_comparison(result: Comparison) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(
        f"[bold]{result.case.name}[/bold]: {result.case.what}; {result.num_rows:,} rows a table, "
        f"{result.num_result_rows:,} in the result; {result.num_ranks} ranks, threads or workers",
        soft_wrap=True,
    )
    console.print(_comparison_table(result))
    for name, reason in result.failed.items():
        console.print(f"{name} failed: {reason}", soft_wrap=True, style="red", markup=False)
    if best := result.best():
        others = ", ".join(dict.fromkeys(one.kind.label for one in result.peers))
        console.print(
            f"Argosy is [bold]{best.ratio:.2f}[/bold] times as fast as the best of {others}. All answers are equal.\n",
            soft_wrap=True,
        )


def _comparison_table(result: Comparison) -> Table:
    from statistics import median

    from rich.table import Table

    from argosy.bench.engines import OURS

    table = Table(box=None, pad_edge=False)
    for name in ("", "median", "fastest", "slowest", "Argosy is"):
        table.add_column(name, justify="right" if name else "left")
    for label, seconds, ratio in (
        (OURS.label, result.ours, ""),
        *((one.kind.label, one.seconds, f"{one.ratio:.2f} x as fast") for one in result.peers),
    ):
        table.add_row(label, f"{median(seconds):.3f} s", f"{min(seconds):.3f} s", f"{max(seconds):.3f} s", ratio)
    return table


def _show_cylon(result: CylonResult) -> None:
    from rich.console import Console

    from argosy.bench.cylon import PUBLISHED_RATE

    console = Console(highlight=False)
    console.print(
        f"[bold]cylon {result.operation}[/bold], {result.scaling}: {result.rows_per_rank:,} rows on each of "
        f"{result.num_ranks} ranks, int64 below 0.9 x {result.max_val:,} (the rows of all ranks), "
        f"{result.num_result_rows:,} rows in the result",
        soft_wrap=True,
    )
    console.print(
        f"  first touch of the memory: {result.first_seconds:.3f} s; then, seconds of each iteration: "
        + " ".join(f"{one:.3f}" for one in result.seconds),
        soft_wrap=True,
    )
    low, high = PUBLISHED_RATE
    console.print(
        f"  mean {result.mean_seconds:.3f} s: [bold]{result.rate / 1e6:.1f} M[/bold] rows per second and rank, here\n"
        f"  Radical-Cylon: {low / 1e6:.1f}-{high / 1e6:.1f} M rows per second and rank, published, on other "
        f"machines (35 M rows a rank in 18.9-25 s); {result.rate / high:.1f} times the best of it\n",
        soft_wrap=True,
    )
