"""Sort more rows than fit: sorted runs on each rank's disk, then range after range, each sorted in memory.

Rows are written once and read twice: to find where the ranges cut each run, and to send them. In every round each rank
receives the next range of its own part of the order, from all runs of all ranks. Rows with equal keys come in the order
of rank, run and place in the run, so also the rows of one frequent key are divided evenly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from argosy.comm.ranks import Ranks
from argosy.frame.buffers import give_back_unused
from argosy.frame.context import Context
from argosy.frame.exchange import Buckets, exchange
from argosy.frame.flat import as_arrow, flatten, unflatten
from argosy.frame.operators.order import broadcast
from argosy.frame.operators.sort import local_sort
from argosy.frame.rows import Rows, concat
from argosy.frame.spill import Spool

_SAMPLES_PER_RUN = 1 << 10
_SMALLEST_BLOCK, _LARGEST_BLOCK = 64 << 10, 4 << 20
"""Of a run: a range of it is read in whole blocks."""
_NUMBER, _RANK, _RUN, _PLACE = "\0number", "\0rank", "\0run", "\0place"


@dataclass(frozen=True, slots=True)
class _Runs:
    """Sorted runs of one rank, one after another in a file."""

    spool: Spool
    starts: list[int]
    """The first row of each run, and the end of the last."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    def read(self, run: int, start: int, stop: int) -> pa.Table:
        return self.spool.read(self.starts[run] + start, self.starts[run] + stop)

    def blocks(self, run: int) -> Iterator[pa.Table]:
        return self.spool.blocks(self.starts[run], self.starts[run + 1])


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
    block_nbytes = min(max(run_nbytes // (2 * ranks.size * num_rounds), _SMALLEST_BLOCK), _LARGEST_BLOCK)
    runs, sample = _make_runs(rows, by, descending, nulls_first, run_nbytes, block_nbytes, context)
    splitters = _splitters(broadcast(sample, ranks), by, descending, nulls_first, ranks.size * num_rounds)
    cuts = [_cuts(runs, run, splitters, by, descending, nulls_first, ranks.rank) for run in range(len(runs))]
    for turn in range(num_rounds):
        outgoing = [
            concat([runs.read(run, cut[place], cut[place + 1]) for run, cut in enumerate(cuts)], rows.schema)
            for place in range(turn, ranks.size * num_rounds, num_rounds)
        ]
        arrived = _send(outgoing, rows.schema, ranks)
        del outgoing
        result = local_sort(arrived, by, descending, nulls_first)
        del arrived
        give_back_unused()
        if result.num_rows:
            yield result
        del result
    runs.spool.close()


def _make_runs(
    rows: Rows,
    by: Sequence[str],
    descending: Sequence[bool],
    nulls_first: bool,
    run_nbytes: int,
    block_nbytes: int,
    context: Context,
) -> tuple[_Runs, pa.Table]:
    """The runs, and rows drawn from them: their keys, and where they lie."""
    runs = _Runs(Spool(context.folder, rows.schema, block_nbytes), [0])
    keys = list(dict.fromkeys(by))
    samples = [_with_places(rows.schema.empty_table().select(keys), context.ranks.rank, 0, np.empty(0, np.int64))]

    def finish(tables: list[pa.Table]) -> None:
        ordered = local_sort(concat(tables, rows.schema), by, descending, nulls_first)
        at = np.unique(np.linspace(0, ordered.num_rows - 1, _SAMPLES_PER_RUN).astype(np.int64))
        drawn = ordered.select(keys).take(as_arrow(at))
        samples.append(_with_places(drawn, context.ranks.rank, len(runs), at))
        runs.spool.append(ordered)
        runs.starts.append(runs.spool.num_rows)
        del ordered, drawn
        give_back_unused()

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


def _with_places(keys: pa.Table, rank: int, run: int, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Table:
    for name, values in ((_RANK, np.full_like(places, rank)), (_RUN, np.full_like(places, run)), (_PLACE, places)):
        keys = keys.append_column(name, as_arrow(values))
    return keys


def _splitters(
    sample: pa.Table, by: Sequence[str], descending: Sequence[bool], nulls_first: bool, num_ranges: int
) -> pa.Table:
    """The first row of each range but the first. The sample is in order of rank, run and place, which a sort keeps."""
    ordered = local_sort(sample, by, descending, nulls_first)
    at = np.arange(1, num_ranges) * ordered.num_rows // num_ranges
    return ordered.take(as_arrow(at)) if ordered.num_rows else ordered


def _cuts(
    runs: _Runs,
    run: int,
    splitters: pa.Table,
    by: Sequence[str],
    descending: Sequence[bool],
    nulls_first: bool,
    rank: int,
) -> list[int]:
    """Where each range begins in a sorted run, and where the last one ends.

    Each block is sorted together with the splitters, once before and once after rows with an equal key.
    """
    keys, size = list(dict.fromkeys(by)), splitters.num_rows
    below, up_to = np.zeros(size, np.int64), np.zeros(size, np.int64)
    numbers = np.arange(size, dtype=np.int64)
    before = splitters.select(keys).append_column(_NUMBER, as_arrow(numbers))
    after = splitters.select(keys).append_column(_NUMBER, as_arrow(numbers + size))
    for block in runs.blocks(run):
        rows = block.select(keys).append_column(_NUMBER, as_arrow(np.full(block.num_rows, -1, np.int64)))
        together = local_sort(pa.concat_tables([before, rows, after]), by, descending, nulls_first)
        order = together.column(_NUMBER).to_numpy()
        passed = np.cumsum(order < 0)
        for counts, first in ((below, 0), (up_to, size)):
            places = np.flatnonzero((order >= first) & (order < first + size))
            counts[order[places] - first] += passed[places]
    places, owners = splitters.column(_PLACE).to_numpy(), splitters.column(_RANK).to_numpy()
    theirs = splitters.column(_RUN).to_numpy()
    comes_first = (rank < owners) | ((rank == owners) & (run < theirs))
    cuts = np.where((rank == owners) & (run == theirs), places, np.where(comes_first, up_to, below))
    return [0, *cuts.tolist(), runs.starts[run + 1] - runs.starts[run]]


def _send(outgoing: Sequence[pa.Table], schema: pa.Schema, ranks: Ranks) -> pa.Table:
    table = pa.concat_tables(outgoing)
    counts = [part.num_rows for part in outgoing]
    ids = np.repeat(np.arange(ranks.size, dtype=np.uint16), counts)
    columns = exchange([flatten(column) for column in table.columns], Buckets(ids, np.array([*counts, 0]), 1), ranks)
    return pa.table([unflatten(column) for column in columns.columns], schema=schema)
