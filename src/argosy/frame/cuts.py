"""The first and the last rows of a rank, of tables that come one after another: no more than these are kept."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from argosy.frame.flat import as_arrow
from argosy.frame.rows import Rows, concat


def first_rows(rows: Rows, num_rows: int, stop: bool) -> pa.Table:
    """The first rows of this rank. The rest is not read, or not kept where all ranks take all tables together."""
    taken: list[pa.Table] = []
    missing = num_rows
    for table in rows.batches():
        if missing > 0 or not taken:
            kept = min(missing, table.num_rows)  # Arrow does not look where there are no columns
            taken.append(_own(table.slice(0, kept), table))
            missing -= taken[-1].num_rows
        if missing <= 0 and stop:
            break
    return concat(taken, rows.schema)


def last_rows(rows: Rows, num_rows: int) -> pa.Table:
    """The last rows of this rank; no more than these and one table are held at a time."""
    held: list[pa.Table] = []
    surplus = -num_rows
    for table in rows.batches():
        kept = min(num_rows, table.num_rows)
        held.append(_own(table.slice(table.num_rows - kept, kept), table))
        surplus += held[-1].num_rows
        while surplus > 0 and held[0].num_rows <= surplus and len(held) > 1:
            surplus -= held.pop(0).num_rows
    table = concat(held, rows.schema)
    return table.slice(surplus, num_rows) if surplus > 0 else table


def _own(part: pa.Table, of: pa.Table) -> pa.Table:
    """A slice holds the memory of all that it was cut from: a small one is copied."""
    if 4 * part.num_rows > of.num_rows or not part.num_columns:
        return part
    return part.take(as_arrow(np.arange(part.num_rows)))
