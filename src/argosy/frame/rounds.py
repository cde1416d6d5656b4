"""Operations on more rows than fit: rows are divided by the hash of their keys, on disk, and done part after part.

Rows with equal keys are in one part, so each part is a whole operation in memory, over all ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from argosy.comm.ranks import Alone
from argosy.frame.buffers import give_back_unused
from argosy.frame.context import Context
from argosy.frame.exchange import exchange
from argosy.frame.flat import NO_MASK, flatten, unflatten
from argosy.frame.keys import hashes, key_column, rehash
from argosy.frame.partitioning import hash_buckets
from argosy.frame.rows import Rows
from argosy.frame.spill import Spool

_MOST_ROUNDS = 256
"""Each part of each side is an open file."""


def in_rounds(
    sides: Sequence[tuple[Rows, Sequence[str]]],
    num_rounds: int,
    function: Callable[..., pa.Table],
    context: Context,
) -> Iterator[pa.Table]:
    """`function(table of each side)` for each part; collective."""
    spools = [_divide(rows, on, min(num_rounds, _MOST_ROUNDS), context) for rows, on in sides]
    for parts in zip(*spools, strict=True):
        tables = [part.read() for part in parts]
        for part in parts:
            part.close()
        result = function(*tables)
        del tables
        give_back_unused()
        if result.num_rows:
            yield result
        del result


def settle(tables: Iterator[pa.Table], schema: pa.Schema, context: Context) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """Tables of rounds in which a sum may have been too large for its type: they stay on disk until all are there, and
    then have the wider type in all of them, on all ranks. Collective."""
    spools: dict[pa.Schema, Spool] = {}
    for table in tables:
        if table.schema not in spools:
            spools[table.schema] = Spool(context.folder, table.schema)
        spools[table.schema].append(table)
    everybody = context.ranks.allgather([schema, *spools])
    common = pa.unify_schemas([one for theirs in everybody for one in theirs], promote_options="permissive")

    def read() -> Iterator[pa.Table]:
        for spool in spools.values():
            for block in spool.blocks():
                yield block.cast(common)
            spool.close()

    return common, read()


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
