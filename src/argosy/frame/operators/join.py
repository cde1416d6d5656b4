"""Join two frames by equal keys: both sides are partitioned by the hash of the key, then joined bucket by bucket."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from argosy.comm.ranks import Alone, Ranks
from argosy.frame.flat import as_arrow, concat_flat
from argosy.frame.gather import gather
from argosy.frame.keys import equal_keys
from argosy.frame.names import joined_names
from argosy.frame.pairs import Pairs, find_pairs
from argosy.frame.partitioning import buckets_per_rank
from argosy.frame.spread import Spread

_SMALL_TABLE = 1 << 14
"""Rows whose table is in cache anyway: a side this small needs no buckets."""


def hash_join(
    left: pa.Table,
    right: pa.Table,
    left_on: Sequence[str],
    right_on: Sequence[str],
    how: str,
    suffix: str,
    ranks: Ranks,
    in_place: tuple[bool, bool] = (False, False),
) -> pa.Table:
    """`in_place`: whether the rows of the left and of the right already are where the hashes of their keys say.

    With `Alone()` as ranks it joins what is on this rank, whatever the others hold.
    """
    num_rows = sum(ranks.allgather(max(left.num_rows, right.num_rows)))
    if how in ("semi", "anti"):
        right = right.select(list(dict.fromkeys(right_on)))
    per_rank = buckets_per_rank(num_rows if right.num_rows > _SMALL_TABLE or ranks.size > 1 else 1, ranks.size)
    left_rows = Spread(left, left_on, per_rank, ranks, in_place=in_place[0])
    right_rows = Spread(right, right_on, per_rank, ranks, in_place=in_place[1])
    keys = equal_keys([left_rows.keys, right_rows.keys], null_is_a_key=False)
    chunks = [
        _materialize(left_rows, right_rows, pairs, left_on, right_on, how, suffix)
        for pairs in find_pairs(keys[0], left_rows, keys[1], right_rows, how)
    ]
    return pa.concat_tables(chunks)


def local_join(
    left: pa.Table, right: pa.Table, left_on: Sequence[str], right_on: Sequence[str], how: str, suffix: str
) -> pa.Table:
    return hash_join(left, right, left_on, right_on, how, suffix, Alone())


def cross_join(left: pa.Table, right: pa.Table, suffix: str) -> pa.Table:
    """Every row of this rank's left with every row of the right, which is whole on each rank."""
    num_left, num_right = left.num_rows, right.num_rows
    left_rows = np.repeat(np.arange(num_left, dtype=np.int64), num_right)
    right_rows = np.tile(np.arange(num_right, dtype=np.int64), num_left)
    renamed = joined_names(left.column_names, right.column_names, (), suffix)
    other = right.rename_columns([renamed[name] for name in right.column_names])
    one, two = left.take(as_arrow(left_rows)), other.take(as_arrow(right_rows))
    columns = [*one.columns, *two.columns]
    if not columns:
        return one
    return pa.table(columns, schema=pa.schema([*left.schema, *other.schema]))


def _materialize(
    left: Spread,
    right: Spread,
    pairs: Pairs,
    left_on: Sequence[str],
    right_on: Sequence[str],
    how: str,
    suffix: str,
) -> pa.Table:
    left_rows, right_rows = pairs
    left_missing, right_missing = how in ("right", "full"), how in ("left", "full")
    columns, fields = [], list(left.schema)
    for name in left.schema.names:
        column = gather(left.column(name), left_rows, left_missing)
        if left_missing and name in left_on:
            other = gather(right.column(right_on[list(left_on).index(name)]), right_rows, right_missing)
            column = pc.coalesce(column, other.cast(column.type))
        columns.append(column)
    if how not in ("semi", "anti"):
        for name, new in joined_names(left.schema.names, right.schema.names, right_on, suffix).items():
            fields.append(right.schema.field(name).with_name(new))
            columns.append(gather(right.column(name), right_rows, right_missing))
    return pa.table([concat_flat([column]) for column in columns], schema=pa.schema(fields))
