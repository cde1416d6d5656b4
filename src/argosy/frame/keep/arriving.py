"""The columns of a result as they come: in RAM as long as there is room, from then on through the disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from argosy.errors import BadFile, DiskFull
from argosy.frame.keep.column import Range, in_ram
from argosy.frame.rows import Rows, concat
from argosy.frame.spill import Spool


class Arrived:
    """One column of the result, all rows of this rank."""

    def __init__(self, field: pa.Field) -> None:
        self.field = field
        self.schema = pa.schema([field])
        self.nbytes = 0
        self._tables: list[pa.Table] = []
        self._spool: Spool | None = None
        self._is_full = False
        """The disk is, and the rest comes to RAM after all."""

    def add(self, table: pa.Table) -> None:
        """More rows, to where those before them went."""
        one = table.select([self.field.name])
        self.nbytes += int(one.nbytes)
        self._append(one)

    def _append(self, one: pa.Table) -> None:
        if self._spool is None or self._is_full:
            self._tables.append(one)
            return
        before = self._spool.num_rows
        try:
            self._spool.append(one)
        except (DiskFull, BadFile):
            self._is_full = True
            self._tables.append(one.slice(self._spool.num_rows - before))

    def through_disk(self, folder: Path) -> None:
        """From now on, and what is there already, as far as the disk has room; if not, placing the column will tell."""
        try:
            self._spool = Spool(folder, self.schema)
        except (DiskFull, BadFile):
            return
        waiting, self._tables = self._tables, []
        while waiting:
            self._append(waiting.pop(0))

    def parts(self) -> Iterator[pa.Table]:
        if self._spool is not None:
            yield from self._spool.blocks()
        yield from self._tables

    def values(self, mapped: Sequence[Range]) -> pa.ChunkedArray:
        """All of it in RAM, and not at these addresses, which are those of files."""
        return in_ram(self.field, concat(list(self.parts()), self.schema).column(0), mapped)

    def close(self) -> None:
        self._tables = []
        if self._spool is not None:
            self._spool.close()


def arrive(rows: Rows, room: int | None, folder: Path | None) -> tuple[list[Arrived], int]:
    """All columns, and the number of rows. Takes all rows, which may be collective.

    What comes as one table is in RAM already; of tables that come one by one, `room` bytes are kept there (None: all)
    before everything goes through files in `folder`, if there is one.
    """
    columns = [Arrived(field) for field in rows.schema.remove_metadata()]
    is_whole = rows.whole is not None
    through_disk = False
    num_rows = nbytes = 0
    for table in rows.batches():
        num_rows += table.num_rows
        nbytes += table.nbytes
        for column in columns:
            column.add(table)
        if not (through_disk or is_whole or folder is None or room is None) and nbytes > room:
            through_disk = True
            for column in columns:
                column.through_disk(folder)
    return columns, num_rows
