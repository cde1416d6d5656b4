"""Rows enough for several buckets on a rank, long runs of equal keys, and a sample that sees them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from frame.operators.columns import KEYS
from frame.operators.laws import assert_same, check, parts, together
from frame.reference import run

from argosy.frame.plan import Agg, Aggregate, Distinct, Join, Memory, Operation, Sort

NUM_ROWS = 30_000


def drawn(pool: Sequence[Any], kind: pa.DataType, num_rows: int, seed: int) -> pa.Array:
    at = np.random.default_rng(seed).integers(0, len(pool), num_rows)
    return pa.array([pool[index] for index in at], kind)


@pytest.mark.parametrize("kind", list(KEYS), ids=str)
def test_hundreds_of_rows_with_few_keys_are_sorted(kind: pa.DataType) -> None:
    """Long runs of keys that differ in their last bits, or in the first, are sorted in other ways than short ones."""
    for pool, descending in product((KEYS[kind], [*KEYS[kind], None]), (False, True)):
        table = pa.table({"k": drawn(pool, kind, 200, 7), "row": range(200)})
        check(Sort(input=Memory(table=table), by=("k",), descending=(descending,)), 1, in_order=True)


def numbers(seed: int, high: int, num_rows: int = NUM_ROWS) -> pa.Table:
    values = np.random.default_rng(seed).integers(-high, high, num_rows)
    nothing = np.random.default_rng(seed + 1).random(num_rows) < 0.1
    return pa.table({"k": pa.array(values, mask=nothing), "row": range(num_rows)})


def texts(seed: int, high: int, num_rows: int = NUM_ROWS) -> pa.Table:
    table = numbers(seed, high, num_rows)
    words = [None if key is None else f"user_{key:08d}" for key in table.column("k").to_pylist()]
    return table.set_column(0, "k", pa.array(words, pa.string()))


@pytest.mark.parametrize("num_ranks", [1, 3])
@pytest.mark.parametrize("make", [numbers, texts])
def test_many_rows_are_sorted(num_ranks: int, make: Any) -> None:
    plan = Sort(input=Memory(table=make(3, 2**40)), by=("k",), descending=(False,))
    check(plan, num_ranks, in_order=True)
    check(plan, num_ranks, in_order=True, share_nbytes=1 << 20)


@pytest.mark.parametrize("num_ranks", [1, 3])
@pytest.mark.parametrize("make", [numbers, texts])
@pytest.mark.parametrize("how", ["inner", "full", "anti"])
def test_many_rows_are_joined(num_ranks: int, make: Any, how: Any) -> None:
    left, right = Memory(table=make(1, 10_000, 12_000)), Memory(table=make(2, 10_000, 12_000))
    check(Join(left=left, right=right, left_on=("k",), right_on=("k",), how=how, algorithm="hash"), num_ranks)


@pytest.mark.parametrize("num_ranks", [1, 3])
@pytest.mark.parametrize(("make", "high"), [(numbers, 30_000), (numbers, 50), (texts, 30_000)])
def test_many_rows_are_grouped(num_ranks: int, make: Any, high: int) -> None:
    table = Memory(table=make(5, high))
    wanted = ("sum", "min", "last", "n_unique", "median")
    aggs = tuple(Agg(name=kind, kind=kind, column="row") for kind in wanted)
    check(Aggregate(input=table, keys=("k",), aggs=aggs), num_ranks)
    check(Aggregate(input=table, keys=("k",), aggs=aggs[:3]), num_ranks)
    check(Distinct(input=table, subset=("k",)), num_ranks)


def hot(share: float, num_rows: int, seed: int, others: int) -> pa.Table:
    """One key has this share of the rows, with nulls among the rest."""
    generator = np.random.default_rng(seed)
    keys = np.where(generator.random(num_rows) < share, 7, generator.integers(100, 100 + others, num_rows))
    return pa.table({"k": pa.array(keys, mask=keys == 101), "row": range(num_rows)})


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_hot_key_of_a_join_is_shared_by_the_ranks(share: float, side: str, how: Any) -> None:
    """The other side has that key twice, so the result is not larger than what comes in."""
    heavy = hot(share, 12_000, 1, 6_000)
    light = pa.table({"k": pa.array([7, 7, *range(90, 4_090)], pa.int64()), "row": range(4_002)})
    left, right = (heavy, light) if side == "left" else (light, heavy)
    plan = Join(
        left=Memory(table=left), right=Memory(table=right), left_on=("k",), right_on=("k",), how=how, algorithm="hash"
    )
    tables = parts(plan, 4)
    result = together(tables)
    assert_same(result, run(plan))
    is_fair = result.num_rows > 1_000
    assert not is_fair or max(table.num_rows for table in tables) <= 0.4 * result.num_rows


@pytest.mark.parametrize("share", [0.3, 0.9, 1.0])
@pytest.mark.parametrize("share_nbytes", [1 << 16, 1 << 30])
@pytest.mark.parametrize("kind", [pa.int64(), pa.float32(), pa.string()], ids=str)
def test_a_hot_key_of_a_sort_is_shared_by_the_ranks(share: float, share_nbytes: int, kind: pa.DataType) -> None:
    table = hot(share, 12_000, 2, 2_000)
    table = table.set_column(0, "k", table.column("k").cast(kind))
    plan = Sort(input=Memory(table=table), by=("k",), descending=(False,))
    tables = parts(plan, 4, share_nbytes)
    assert_same(together(tables), run(plan), in_order=True)
    assert max(part.num_rows for part in tables) <= math.ceil(0.4 * table.num_rows)


@pytest.mark.parametrize("num_ranks", [2, 3, 5])
def test_a_sort_gives_every_rank_its_share(num_ranks: int) -> None:
    plan: Operation = Sort(input=Memory(table=numbers(9, 2**62)), by=("k",), descending=(True,))
    sizes = [part.num_rows for part in parts(plan, num_ranks)]
    assert max(sizes) <= 1.2 * NUM_ROWS / num_ranks
    assert min(sizes) >= 0.8 * NUM_ROWS / num_ranks
