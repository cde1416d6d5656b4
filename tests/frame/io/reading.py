"""A source as one table."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import pyarrow as pa

from argosy.frame.expressions.nodes import Expr
from argosy.frame.io.source import Source


def read_all(
    source: Source, columns: Sequence[str] | None = None, predicate: Expr | None = None, batch_nbytes: int = 1 << 20
) -> pa.Table:
    """All rows, read as a rank does: from a source that has travelled, and only the pieces that pruning leaves."""
    source = pickle.loads(pickle.dumps(source))
    names = source.schema.names if columns is None else list(columns)
    schema = pa.schema([source.schema.field(name) for name in names])
    tables = [
        table
        for piece in source.prune(predicate)
        for table in source.read(piece, columns, predicate, batch_nbytes=batch_nbytes)
    ]
    for table in tables:
        assert table.schema.equals(schema)
        assert table.schema.metadata is None
    return pa.concat_tables([schema.empty_table(), *tables]) if names else sum_rows(tables)


def sum_rows(tables: list[pa.Table]) -> pa.Table:
    """A table without columns that has the rows of all of these."""
    num_rows = sum(table.num_rows for table in tables)
    return pa.table({"none": pa.nulls(num_rows)}).select([])
