"""What an operation hands to the next one on a rank: a table, or tables one after another when there is too much."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from argosy.frame.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one rank. They can be taken once. Taking tables may be collective: all ranks take all of them."""

    schema: pa.Schema
    tables: Iterator[pa.Table]
    whole: pa.Table | None = None
    """All of them, when they are in memory."""
    in_place_by: tuple[str, ...] | None = None
    """Rows with equal values of these are on the rank that their hash says."""
    num_rows: float = 0
    nbytes: float = 0
    """Of this rank; both are estimates unless `whole`."""

    def table(self) -> pa.Table:
        """All rows at once."""
        return self.whole if self.whole is not None else concat(list(self.tables), self.schema)

    def batches(self) -> Iterator[pa.Table]:
        if self.whole is not None:
            yield self.whole
        else:
            yield from self.tables

    def map(self, schema: pa.Schema, function: Callable[[pa.Table], pa.Table], keeps: set[str] | None = None) -> Rows:
        """The same rows through a function of each table. `keeps`: columns that are the same afterwards."""
        by = self.in_place_by
        if by is not None and keeps is not None and not set(by) <= keeps:
            by = None
        if self.whole is not None:
            return whole(function(self.whole), by)
        return replace(self, schema=schema, tables=map(function, self.tables), in_place_by=by)


def whole(table: pa.Table, in_place_by: tuple[str, ...] | None = None) -> Rows:
    return Rows(table.schema, iter(()), table, in_place_by, table.num_rows, table.nbytes)


def stream(schema: pa.Schema, tables: Iterator[pa.Table], whole_frame: Estimate, num_ranks: int) -> Rows:
    """Rows that come table by table, taken to be this rank's even share of the frame."""
    return Rows(schema, tables, num_rows=whole_frame.num_rows / num_ranks, nbytes=whole_frame.nbytes / num_ranks)


def concat(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    """Tables one after another. Sums that some rounds had to widen are widened in all."""
    if not tables:
        return schema.empty_table()
    if len(tables) == 1:
        return tables[0]
    if tables[0].num_columns == 0:
        return without_columns(sum(table.num_rows for table in tables))
    return pa.concat_tables(tables, promote_options="permissive")


def without_columns(num_rows: int) -> pa.Table:
    """A table of no columns that still has rows, which Arrow forgets when it concatenates or casts."""
    return pa.table({"": pa.nulls(num_rows)}).select([])


def alike(first: pa.Table, second: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Both with the columns of the first, in its order. A sum that is wider in one of them is widened in both."""
    second = second.select(first.column_names)
    if second.schema.equals(first.schema):
        return first, second
    schema = pa.unify_schemas([first.schema, second.schema], promote_options="permissive")
    return first.cast(schema), second.cast(schema)
