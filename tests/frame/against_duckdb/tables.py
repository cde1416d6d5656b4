"""Random tables: any type, nulls, one hot key, duplicates, no rows at all; in chunks and slices, as real ones are."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from . import kinds

NAMES = ["a", "b", "A", "k", "key", "", "two words", "é", 'a "quote"', "a_right", "n"]
_NUM_ROWS = [0, 1, 2, 5, 20, 20, 60, 60, 60, 300]
_MANY_ROWS = [1500, 4000]


def num_rows(draw: random.Random) -> int:
    return draw.choice(_MANY_ROWS if draw.random() < 0.02 else _NUM_ROWS)


def table(draw: random.Random, rows: int | None = None, schema: pa.Schema | None = None) -> pa.Table:
    """So many rows, of this schema, where they are given."""
    rows = num_rows(draw) if rows is None else rows
    if schema is None:
        names = draw.sample(NAMES, draw.randint(1, 5))
        schema = pa.schema([pa.field(name, _kind(draw)) for name in names])
    columns = [column(draw, field.type, rows) for field in schema]
    return in_pieces(draw, pa.table(columns, schema=schema))


def _kind(draw: random.Random) -> pa.DataType:
    pool = draw.choices([kinds.INTEGERS, kinds.FLOATS, kinds.KEYS, kinds.PAYLOADS], [4, 2, 8, 1])[0]
    return draw.choice(list(pool))


def column(draw: random.Random, kind: pa.DataType, rows: int) -> pa.Array:
    pool = _pool(draw, kind)
    null_share = draw.choice([0, 0, 0.1, 0.5, 1 if draw.random() < 0.2 else 0])
    hot = draw.choice([0, 0, 0, 0.9])
    first = pool[0]
    values = [first if draw.random() < hot else draw.choice(pool) for _ in range(rows)]
    if null_share:
        values = [None if draw.random() < null_share else value for value in values]
    if pt.is_dictionary(kind):
        return _encoded(draw, values, kind)
    return pa.array(values, kind)


def _pool(draw: random.Random, kind: pa.DataType) -> Sequence[Any]:
    """Small numbers half of the time, so that arithmetic has something to do."""
    if pt.is_integer(kind) and draw.random() < 0.6:
        return range(-9 if pt.is_signed_integer(kind) else 0, draw.choice([2, 10, 100]))
    if pt.is_floating(kind) and draw.random() < 0.4:
        return [-2.5, -1.0, 0.0, 0.25, 1.0, 3.0, 8.0]
    whole = kinds.values(kind)
    return draw.sample(whole, draw.randint(1, len(whole)))


def _encoded(draw: random.Random, values: list[Any], kind: pa.DataType) -> pa.Array:
    """As a dictionary: of what occurs, or of more than that, with a value twice."""
    known = list(dict.fromkeys(value for value in values if value is not None))
    draw.shuffle(known)
    if known and draw.random() < 0.3:
        known += [known[0], kinds.values(kind)[0]]
    last = {value: index for index, value in enumerate(known)}
    first = {value: index for index, value in reversed(list(enumerate(known)))}
    places = [None if value is None else draw.choice([last, first])[value] for value in values]
    return pa.DictionaryArray.from_arrays(pa.array(places, kind.index_type), pa.array(known, kind.value_type))


def in_pieces(draw: random.Random, whole: pa.Table) -> pa.Table:
    """The same rows as several chunks, or as a slice of a longer table."""
    if whole.num_rows == 0 or draw.random() < 0.4:
        return whole
    if draw.random() < 0.5:
        longer = pa.concat_tables([whole.slice(0, 1), whole, whole.slice(0, 2)]).combine_chunks()
        return longer.slice(1, whole.num_rows)
    cuts = sorted([0, whole.num_rows, *(draw.randint(0, whole.num_rows) for _ in range(2))])
    return pa.concat_tables([whole.slice(start, stop - start) for start, stop in pairwise(cuts)])


def shares(draw: random.Random, rows: int, num_ranks: int) -> list[int]:
    """Where each rank's rows begin, and the end: even, all on one rank, or anyhow."""
    way = draw.choice(["even", "one", "anyhow", "anyhow", "few"])
    if way == "even":
        return [rows * rank // num_ranks for rank in range(num_ranks + 1)]
    if way == "one":
        owner = draw.randrange(num_ranks)
        return [0 if rank <= owner else rows for rank in range(num_ranks + 1)]
    most = rows if way == "anyhow" else min(rows, 2)
    return sorted([0, *(draw.randint(0, most) for _ in range(num_ranks - 1)), rows])
