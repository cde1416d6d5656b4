"""Leave the rows of a result on this rank, as was asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from argosy.errors import NoTier
from argosy.frame import resident
from argosy.frame.context import Context
from argosy.frame.keep.arriving import arrive
from argosy.frame.keep.asked import Asked
from argosy.frame.keep.column import Range, in_ram
from argosy.frame.keep.files import disk_at
from argosy.frame.keep.held import Held
from argosy.frame.keep.pool import pool
from argosy.frame.rows import Rows
from argosy.memory.tiers.disk import Disk


def hold(rows: Rows, asked: Asked, context: Context, mapped: Sequence[Range] = ()) -> pa.Table | Held:
    """Takes all rows, which may be collective. A plain table where all is in RAM for good, and else columns that may
    move. `mapped`: addresses of files that rows may lie in, of frames that the plan has read."""
    if asked.tier == "ram":
        return pool.note(resident.mark(_in_ram(rows.table(), mapped), rows.in_place_by, context.ranks.size))
    disk = disk_at(context.folder)
    columns, num_rows = arrive(rows, pool.room(asked), _folder(disk, asked))
    schema = rows.schema.with_metadata(resident.facts(rows.in_place_by, context.ranks.size))
    del rows  # a column that goes to disk leaves RAM before the next one does
    return pool.place(columns, num_rows, schema=schema, asked=asked, disk=disk, mapped=mapped)


def _in_ram(table: pa.Table, mapped: Sequence[Range]) -> pa.Table:
    if not mapped or not table.num_columns:
        return table
    columns = [in_ram(field, table.column(field.name), mapped) for field in table.schema]
    return pa.table(columns, schema=table.schema)


def _folder(disk: Disk, asked: Asked) -> Path | None:
    """Where rows go on their way; None where there is no disk, and none is insisted on."""
    try:
        return disk.folder
    except NoTier:
        if asked.tier == "disk":
            raise
        return None
