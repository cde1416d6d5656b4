"""Sort more rows than fit: sorted runs on each rank's disk, then range after range, each sorted in memory.

Rows are written once and read once. In every round each rank receives the next range of its own part of the order, from
all runs of all ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from argosy.comm.ranks import Ranks
from argosy.frame.context import Context
from argosy.frame.exchange import Buckets, exchange
from argosy.frame.flat import flatten, unflatten
from argosy.frame.operators.order import broadcast
from argosy.frame.operators.sort import local_sort
from argosy.frame.rows import Rows, concat
from argosy.frame.spill import Spool

_SAMPLES_PER_RUN = 1 << 10
_NUMBER = "\0number"


def external_sort(
    rows: Rows,
    by: Sequence[str],
    descending: Sequence[bool],
    nulls_first: bool,
    num_rounds: int,
    run_nbytes: int,
    context: Context,
) -> Iterator[pa.Table]:
    """`run_nbytes`: rows that are sorted at once."""
    ranks = context.ranks
    runs, sample = _make_runs(rows, by, descending, nulls_first, run_nbytes, context)
    everybody = broadcast(sample, ranks)
    splitters = _splitters(everybody, by, descending, nulls_first, ranks.size * num_rounds)
    cuts = [_cuts(run, splitters, by, descending, nulls_first) for run in runs]
    for turn in range(num_rounds):
        outgoing = [
            concat([run.read(cut[place], cut[place + 1]) for run, cut in zip(runs, cuts, strict=True)], rows.schema)
            for place in range(turn, ranks.size * num_rounds, num_rounds)
        ]
        arrived = _send(outgoing, rows.schema, ranks)
        del outgoing
        result = local_sort(arrived, by, descending, nulls_first)
        del arrived
        if result.num_rows:
            yield result
    for run in runs:
        run.close()


def _make_runs(
    rows: Rows, by: Sequence[str], descending: Sequence[bool], nulls_first: bool, run_nbytes: int, context: Context
) -> tuple[list[Spool], pa.Table]:
    runs: list[Spool] = []
    samples = [rows.schema.empty_table().select(list(dict.fromkeys(by)))]

    def finish(tables: list[pa.Table]) -> None:
        ordered = local_sort(concat(tables, rows.schema), by, descending, nulls_first)
        run = Spool(context.folder, rows.schema)
        run.append(ordered)
        runs.append(run)
        at = np.unique(np.linspace(0, ordered.num_rows - 1, _SAMPLES_PER_RUN).astype(np.int64))
        samples.append(ordered.select(list(dict.fromkeys(by))).take(pa.array(at)))

    waiting: list[pa.Table] = []
    size = 0
    for batch in rows.batches():
        step = max(1, int(run_nbytes * batch.num_rows / max(batch.nbytes, 1)))
        for start in range(0, batch.num_rows, step):
            part = batch.slice(start, step)
            waiting.append(part)
            size += part.nbytes
            if size >= run_nbytes:
                finish(waiting)
                waiting, size = [], 0
    if waiting:
        finish(waiting)
    return runs, pa.concat_tables(samples)


def _splitters(
    sample: pa.Table, by: Sequence[str], descending: Sequence[bool], nulls_first: bool, num_ranges: int
) -> pa.Table:
    """The first key of each range but the first."""
    ordered = local_sort(sample, by, descending, nulls_first)
    at = np.arange(1, num_ranges) * ordered.num_rows // num_ranges
    return ordered.take(pa.array(at)) if ordered.num_rows else ordered


def _cuts(
    run: Spool, splitters: pa.Table, by: Sequence[str], descending: Sequence[bool], nulls_first: bool
) -> list[int]:
    """Where each range begins in a sorted run; rows equal to a splitter belong to the range that it begins."""
    num_ranges = splitters.num_rows + 1
    keys = list(dict.fromkeys(by))
    numbered = splitters.append_column(_NUMBER, pa.array(np.arange(splitters.num_rows, dtype=np.int64)))
    cuts = np.zeros(num_ranges + 1, np.int64)
    for block in run.blocks():
        rows = block.select(keys).append_column(_NUMBER, pa.array(np.full(block.num_rows, -1, np.int64)))
        order = local_sort(pa.concat_tables([numbered, rows]), by, descending, nulls_first).column(_NUMBER).to_numpy()
        places = np.flatnonzero(order >= 0)
        before = places - np.arange(len(places))
        cuts[1 + order[places]] += before
    cuts[-1] = run.num_rows
    return [int(cut) for cut in cuts]


def _send(outgoing: Sequence[pa.Table], schema: pa.Schema, ranks: Ranks) -> pa.Table:
    table = pa.concat_tables(outgoing)
    counts = [part.num_rows for part in outgoing]
    ids = np.repeat(np.arange(ranks.size, dtype=np.uint16), counts)
    columns = exchange([flatten(column) for column in table.columns], Buckets(ids, np.array([*counts, 0]), 1), ranks)
    return pa.table([unflatten(column) for column in columns.columns], schema=schema)
