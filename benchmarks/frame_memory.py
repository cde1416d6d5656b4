"""What a join in memory needs beside its inputs and its result."""

from __future__ import annotations

from statistics import median

from figures import Figure, Options
from frame_peak import Peak

import argosy
from argosy.bench.cases import CASES
from argosy.bench.data import tables_of

RANKS = 2


def memory(options: Options) -> list[Figure]:
    """Resident memory of all ranks together at its peak in a join, interpreters and all, over inputs and result."""
    num_rows = options.count(10_000_000, 1_000_000)
    ratios, sampled = [], []
    with argosy.Pilot(ranks=RANKS, name="memory") as pilot:
        tables = tables_of(CASES["join"], num_rows)
        inputs = sum(table.nbytes for table in tables if table is not None)
        left, right = (argosy.from_arrow(table).persist() for table in tables)
        del tables
        result_nbytes = 0
        for _ in range(options.turns(3, 1)):
            with Peak(pilot) as peak:
                result = left.join(right, on="k").persist()
            nbytes = pilot.submit(lambda table: table.nbytes, result).results()
            result.__argosy_future__().release()
            result_nbytes = sum(nbytes)
            ratios.append(peak.high_water / (inputs + result_nbytes))
            sampled.append(peak.sampled / (inputs + result_nbytes))
    total = f"{inputs / 1e6:,.0f} MB in, {result_nbytes / 1e6:,.0f} MB out"
    what = f"join, {num_rows / 1e6:g} M rows, {RANKS} ranks: peak / (inputs + result)"
    return [
        Figure(what=what, value=median(ratios), unit="x", at_most=3.0, note=total),
        Figure(what=f"{what}, sampled", value=median(sampled), unit="x", note="shared pages counted once"),
    ]
