"""A table's rows, spread over the ranks by the hash of their keys and lying there in buckets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from argosy.comm.ranks import Alone, Ranks
from argosy.frame.exchange import Arrived, Buckets, exchange
from argosy.frame.flat import NO_MASK, Binary, Flat, flatten, unflatten
from argosy.frame.keys import all_valid, hashes, key_column, key_type
from argosy.frame.partitioning import hash_buckets


class Spread:
    """`null_is_a_key`: rows with a null key go to a bucket like others; else they stay outside, as loose rows.
    `in_place`: the rows already are on the ranks that their hashes say; they are only put into buckets."""

    def __init__(
        self,
        table: pa.Table,
        on: Sequence[str],
        per_rank: int,
        ranks: Ranks,
        null_is_a_key: bool = False,
        in_place: bool = False,
    ) -> None:
        self.schema = table.schema
        self.total_buckets = ranks.size * per_rank
        keys = [key_column(table.column(name)) for name in on]
        valid = NO_MASK if null_is_a_key else all_valid(keys)
        columns = [_reuse(table, name, keys, on) for name in table.column_names]
        if self.total_buckets == 1 and not valid.size:
            self.rows = _where_they_are(columns, table.num_rows)
        else:
            buckets = hash_buckets(hashes(keys), valid, ranks.size, per_rank)
            del keys
            if in_place and ranks.size > 1:
                self.rows = exchange(columns, _own(buckets, ranks), Alone())
            else:
                self.rows = exchange(columns, buckets, ranks)
        self.keys = [key_flat(self.column(name)) for name in on]

    def column(self, name: str) -> Flat:
        index: int = self.schema.get_field_index(name)
        return self.rows.columns[index]


def key_flat(column: Flat) -> Flat:
    """A flat column as keys are compared."""
    if isinstance(column, Binary) or column.type == key_type(column.type):
        return column
    return key_column(unflatten(column))


def _own(buckets: Buckets, ranks: Ranks) -> Buckets:
    """The buckets of this rank alone, counted from 0."""
    first = ranks.rank * buckets.per_rank
    mine = np.append(buckets.num_rows[first : first + buckets.per_rank], buckets.num_rows[-1])
    if mine.sum() != len(buckets.ids):
        raise AssertionError("rows that should be in place are on another rank than their hashes say")
    ids = np.where(buckets.ids < len(buckets.num_rows) - 1, buckets.ids - np.uint16(first), buckets.per_rank)
    return Buckets(ids.astype(np.uint16), mine, buckets.per_rank)


def _reuse(table: pa.Table, name: str, keys: Sequence[Flat], on: Sequence[str]) -> Flat:
    if name in on and keys[list(on).index(name)].type == table.schema.field(name).type:
        return keys[list(on).index(name)]
    return flatten(table.column(name))


def _where_they_are(columns: list[Flat], num_rows: int) -> Arrived:
    return Arrived(columns, np.zeros((1, 1), np.int64), np.full((1, 1), num_rows, np.int64), num_rows, 0)
