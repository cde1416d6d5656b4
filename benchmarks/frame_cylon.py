"""The published benchmark of Radical-Cylon: what `argosy bench cylon` measures, with wants."""

from __future__ import annotations

import psutil
from figures import Figure, Options, spread

from argosy.bench.cylon import OPERATIONS, PUBLISHED_RATE, run_cylon

RANKS = 2
PUBLISHED_ROWS = 35_000_000
_NBYTES_PER_ROW = 180
"""Of a join: three times two inputs and a result."""


def cylon(options: Options) -> list[Figure]:
    """Weak scaling, rows per second and rank, beside what was published for other machines."""
    room = psutil.virtual_memory().available // (_NBYTES_PER_ROW * RANKS)
    num_rows = options.count(PUBLISHED_ROWS, 200_000)
    if room < num_rows:
        num_rows = room // 1_000_000 * 1_000_000
        print(f"  memory is short: {num_rows:,} rows on each rank instead of {PUBLISHED_ROWS:,}")
    figures = []
    for operation in OPERATIONS:
        result = run_cylon(operation, "weak", num_rows, RANKS, options.turns(10, 2))
        what = f"{operation}, {num_rows / 1e6:g} M rows on each of {RANKS} ranks"
        note = f"+-{spread(result.seconds):.0%} of {len(result.seconds)}"
        figures.append(Figure(what=f"{what}, first touch of the memory", value=result.first_seconds, unit="s"))
        figures.append(Figure(what=f"{what}, mean", value=result.mean_seconds, unit="s", note=note))
        figures.append(Figure(what=f"{what}, per second and rank", value=result.rate / 1e6, unit="M rows"))
        for published, wanted in zip(PUBLISHED_RATE, (None, 10.0), strict=True):
            figures.append(
                Figure(
                    what=f"{operation}: here / Radical-Cylon's {published / 1e6:.1f} M",
                    value=result.rate / published,
                    unit="x",
                    at_least=wanted,
                    note="published, on another machine",
                )
            )
    return figures
