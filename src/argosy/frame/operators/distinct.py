"""Distinct rows, and the set operations, which are questions about them. Null equals null."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from argosy.comm.ranks import Ranks
from argosy.frame.buffers import zeros
from argosy.frame.flat import Fixed, as_arrow
from argosy.frame.gather import gather
from argosy.frame.groups import find_groups
from argosy.frame.partitioning import buckets_per_rank
from argosy.frame.rows import alike, concat
from argosy.frame.spread import Spread

_SIDE = "\0side"


def distinct(table: pa.Table, subset: Sequence[str] | None, ranks: Ranks) -> pa.Table:
    """The first row of each set that is equal in `subset`, or in all columns."""
    on = list(table.column_names if subset is None else subset)
    if not on:
        return _at_most_one(table, ranks)
    total = sum(ranks.allgather(table.num_rows))
    spread = Spread(table, on, buckets_per_rank(total, ranks.size), ranks, null_is_a_key=True)
    rows = find_groups(spread).first_rows
    return pa.table([gather(column, rows) for column in spread.rows.columns], schema=table.schema)


def set_operation(kind: str, left: pa.Table, right: pa.Table, ranks: Ranks) -> pa.Table:
    """`union`, `intersect` or `difference`."""
    left, right = alike(left, right)
    if kind == "union":
        return distinct(concat([left, right], left.schema), None, ranks)
    if left.num_columns == 0:
        one, other = _at_most_one(left, ranks), sum(ranks.allgather(right.num_rows))
        return one if (other > 0) == (kind == "intersect") else one.slice(0, 0)
    on = left.column_names
    sides = as_arrow(np.repeat(np.array([1, 0], np.uint8), [left.num_rows, right.num_rows]))
    table = pa.concat_tables([left, right]).append_column(_SIDE, sides)
    total = sum(ranks.allgather(table.num_rows))
    spread = Spread(table, on, buckets_per_rank(total, ranks.size), ranks, null_is_a_key=True)
    groups = find_groups(spread)
    side = spread.column(_SIDE)
    assert isinstance(side, Fixed)
    in_left, in_right = zeros(groups.size, bool), zeros(groups.size, bool)
    in_left[groups.of_row[side.values != 0]] = True
    in_right[groups.of_row[side.values == 0]] = True
    wanted = in_left & (in_right if kind == "intersect" else ~in_right)
    rows = np.ascontiguousarray(groups.first_rows[wanted])
    return pa.table([gather(spread.column(name), rows) for name in on], schema=left.schema)


def _at_most_one(table: pa.Table, ranks: Ranks) -> pa.Table:
    """All rows of no columns are equal."""
    before = sum(ranks.allgather(table.num_rows)[: ranks.rank])
    return table.slice(0, min(table.num_rows, 1) if before == 0 else 0)
