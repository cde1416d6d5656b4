"""The rows of one persisted frame on this rank, each column in its tier."""

from __future__ import annotations

import itertools
from typing import Any

import pyarrow as pa

from argosy.frame.keep.asked import Asked
from argosy.frame.keep.column import Column
from argosy.frame.rows import without_columns
from argosy.memory.tiers.disk import Disk

_numbers = itertools.count()


class Held:
    """What a kept task leaves on its rank instead of a table whose columns may move."""

    def __init__(
        self,
        schema: pa.Schema,
        columns: list[Column],
        num_rows: int,
        asked: Asked,
        disk: Disk,
        problems: tuple[str, ...] = (),
    ) -> None:
        self.schema = schema
        self.columns = {column.field.name: column for column in columns}
        self.num_rows = num_rows
        self.asked = asked
        self.disk = disk
        self.problems = problems
        """Why columns are in RAM that should be on disk."""
        self.users = 0
        """Operations under way that read it; meanwhile nothing moves."""
        self.was_lent = False
        """Somebody may have read it since its pages were dropped."""
        self.number = next(_numbers)

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self.columns.values())

    @property
    def nbytes_in_ram(self) -> int:
        return sum(column.nbytes_in_ram for column in self.columns.values())

    def table(self) -> pa.Table:
        """All rows, over the memory that the columns lie in now."""
        self.was_lent = True
        if not self.columns:
            return without_columns(self.num_rows).replace_schema_metadata(self.schema.metadata)
        return pa.table([column.values for column in self.columns.values()], schema=self.schema)

    def rest(self) -> None:
        """Drop the pages of what is on disk."""
        for column in self.columns.values():
            column.rest()

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels as a plain table."""
        return _itself, (self.table(),)


def _itself(table: pa.Table) -> pa.Table:
    return table
