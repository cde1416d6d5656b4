"""Operations on more rows than fit: rows are divided by the hash of their keys, on disk, and done part after part.

Rows with equal keys are in one part, so each part is a whole operation in memory, over all ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from argosy.comm.ranks import Alone
from argosy.frame.context import Context
from argosy.frame.exchange import exchange
from argosy.frame.flat import NO_MASK, flatten, unflatten
from argosy.frame.keys import hashes, key_column, rehash
from argosy.frame.partitioning import hash_buckets
from argosy.frame.rows import Rows
from argosy.frame.spill import Spool


def in_rounds(
    sides: Sequence[tuple[Rows, Sequence[str]]],
    num_rounds: int,
    function: Callable[..., pa.Table],
    context: Context,
) -> Iterator[pa.Table]:
    """`function(table of each side)` for each part; collective."""
    spools = [_divide(rows, on, num_rounds, context) for rows, on in sides]
    for parts in zip(*spools, strict=True):
        tables = [part.read() for part in parts]
        for part in parts:
            part.close()
        result = function(*tables)
        del tables
        if result.num_rows:
            yield result


def _divide(rows: Rows, on: Sequence[str], num_rounds: int, context: Context) -> list[Spool]:
    spools = [Spool(context.folder, rows.schema) for _ in range(num_rounds)]
    for batch in rows.batches():
        for table in _slices(batch, context.batch_nbytes):
            codes = rehash(hashes([key_column(table.column(name)) for name in on]))
            buckets = hash_buckets(codes, NO_MASK, 1, num_rounds)
            arrived = exchange([flatten(column) for column in table.columns], buckets, Alone())
            divided = pa.table([unflatten(column) for column in arrived.columns], schema=table.schema)
            for spool, start, count in zip(spools, arrived.starts[0], arrived.counts[0], strict=True):
                spool.append(divided.slice(int(start), int(count)))
    return spools


def _slices(table: pa.Table, nbytes: int) -> Iterator[pa.Table]:
    step = max(1, int(nbytes * table.num_rows / max(table.nbytes, 1)))
    for start in range(0, table.num_rows, step):
        yield table.slice(start, step)
