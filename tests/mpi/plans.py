"""Random plans, the same for the same seed: every rank of a run makes its own copy."""

from __future__ import annotations

import random
from collections.abc import Callable

import pyarrow as pa
from frame.operators.columns import KEYS, NUMBERS, PAYLOADS

from argosy.frame.plan import (
    Agg,
    Aggregate,
    Concat,
    Distinct,
    Join,
    Memory,
    Operation,
    Repartition,
    SetOperation,
    Shuffle,
    Slice,
    Sort,
)

IN_ORDER = (Sort, Slice, Concat, Repartition)
"""Operations whose rows have an order that the reference has as well; a shuffle has one of its own."""


def random_plan(seed: int) -> Operation:
    draw = random.Random(seed)
    return draw.choice(_MAKERS)(draw)


def _column(draw: random.Random, kind: pa.DataType, num_rows: int) -> pa.Array:
    pool = [*PAYLOADS[kind], None] if draw.random() < 0.5 else PAYLOADS[kind]
    return pa.array([draw.choice(pool) for _ in range(num_rows)], kind)


def _table(draw: random.Random, keys: list[pa.DataType], others: list[pa.DataType]) -> Memory:
    num_rows = draw.choice([0, 1, 4, 60, 60, 300])
    named = {f"k{index}": kind for index, kind in enumerate(keys)} | {
        f"v{index}": one for index, one in enumerate(others)
    }
    arrays = {name: _column(draw, kind, num_rows) for name, kind in named.items()}
    return Memory(table=pa.table({**arrays, "row": pa.array(range(num_rows), pa.int64())}))


def _kinds(draw: random.Random, pools: dict[pa.DataType, object], most: int) -> list[pa.DataType]:
    return draw.choices(list(pools), k=draw.randint(1, most))


def _names(kinds: list[pa.DataType]) -> tuple[str, ...]:
    return tuple(f"k{index}" for index in range(len(kinds)))


def _join(draw: random.Random) -> Operation:
    keys = _kinds(draw, KEYS, 2)
    return Join(
        left=_table(draw, keys, _kinds(draw, PAYLOADS, 2)),
        right=_table(draw, keys, _kinds(draw, PAYLOADS, 2)),
        left_on=_names(keys),
        right_on=_names(keys),
        how=draw.choice(["inner", "left", "right", "full", "semi", "anti"]),
        algorithm=draw.choice(["auto", "hash", "sort", "broadcast"]),
    )


def _sort(draw: random.Random) -> Operation:
    keys = _kinds(draw, KEYS, 3)
    return Sort(
        input=_table(draw, keys, _kinds(draw, PAYLOADS, 2)),
        by=_names(keys),
        descending=tuple(draw.random() < 0.5 for _ in keys),
        nulls_first=draw.random() < 0.5,
    )


def _group(draw: random.Random) -> Operation:
    keys = _kinds(draw, KEYS, 2)
    wanted = draw.sample(["sum", "min", "max", "count", "mean", "first", "last", "n_unique", "median"], 4)
    return Aggregate(
        input=_table(draw, keys, _kinds(draw, NUMBERS, 1)),
        keys=_names(keys) if draw.random() < 0.8 else (),
        aggs=tuple(Agg(name=kind, kind=kind, column="v0") for kind in wanted),
    )


def _distinct(draw: random.Random) -> Operation:
    keys = _kinds(draw, KEYS, 2)
    return Distinct(input=_table(draw, keys, _kinds(draw, PAYLOADS, 2)), subset=_names(keys))


def _sets(draw: random.Random) -> Operation:
    keys = _kinds(draw, KEYS, 2)
    sides = [Memory(table=_table(draw, keys, []).table.drop_columns("row")) for _ in range(2)]
    return SetOperation(kind=draw.choice(["union", "intersect", "difference"]), left=sides[0], right=sides[1])


def _order(draw: random.Random) -> Operation:
    kinds = _kinds(draw, PAYLOADS, 3)
    one, other = _table(draw, [], kinds), _table(draw, [], kinds)
    return draw.choice(
        [
            Concat(first=one, second=other),
            Shuffle(input=one, seed=draw.randrange(1 << 40)),
            Slice(input=one, offset=draw.randint(-70, 70), length=draw.choice([None, 5, 50])),
            Repartition(input=Slice(input=one, offset=draw.randint(0, 50))),
        ]
    )


_MAKERS: list[Callable[[random.Random], Operation]] = [_join, _sort, _group, _distinct, _sets, _order]
