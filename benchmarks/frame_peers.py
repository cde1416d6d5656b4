"""Joins, sorts and group-bys beside other engines: what `argosy bench` measures, with wants."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from statistics import median

from figures import Figure, Options, spread

from argosy.bench.cases import CASES
from argosy.bench.compare import Comparison, compare, peers_of
from argosy.bench.engines import OURS

RANKS = 2
FAST = ("polars", "duckdb")
"""Engines of one machine."""
LARGE = ("dask", "ray")
"""Engines of many machines."""
WANTS = {"join": 3.0, "sort": 3.0, "group_by": 3.0, "string_join": 2.0, "null_join": 2.0}
"""How many times as fast as the best of the engines of one machine."""
LARGE_WANTS = {"join": 10.0, "sort": 10.0, "group_by": 10.0}


def peers(options: Options) -> list[Figure]:
    """The same tables in memory, two ranks against two threads, in turns; all answers are equal."""
    figures = []
    for name, case in CASES.items():
        kinds, missing = peers_of((*FAST, *LARGE) if name in LARGE_WANTS else FAST)
        if missing:
            print(f"  {name}: skipped, as not installed: {', '.join(missing)}", file=sys.stderr)
        num_rows = options.count(10_000_000, 200_000)
        result = compare(case, num_rows, RANKS, kinds, options.turns(7, 2))
        for engine, reason in result.failed.items():
            print(f"  {name}: {engine} failed: {reason}", file=sys.stderr)
        figures += _seconds(result)
        figures += _ahead(result, FAST, WANTS[name])
        if name in LARGE_WANTS:
            figures += _ahead(result, LARGE, LARGE_WANTS[name])
    return figures


def _seconds(result: Comparison) -> list[Figure]:
    rows = f"{result.num_rows / 1e6:g} M rows"
    return [
        Figure(
            what=f"{result.case.name}, {rows}: {label}",
            value=median(seconds),
            unit="s",
            note=f"+-{spread(seconds):.0%} of {len(seconds)}",
        )
        for label, seconds in (
            (OURS.label, result.ours),
            *((one.kind.label, one.seconds) for one in result.peers),
        )
    ]


def _ahead(result: Comparison, asked: Sequence[str], wanted: float) -> list[Figure]:
    best = result.best(asked)
    if best is None:
        return []
    what = f"{result.case.name}: times as fast as {best.kind.label}"
    return [Figure(what=what, value=best.ratio, unit="x", at_least=wanted, note=f"the best of {', '.join(asked)}")]
