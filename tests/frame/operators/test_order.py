"""Operations that go by the place of a row in the frame: slices, concatenation, samples, shuffles, even shares."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from frame import reference
from frame.operators.columns import PAYLOADS, columns, kinds, tables
from frame.operators.laws import NUM_RANKS, PLENTY, TINY, assert_same, check, law, parts, together
from hypothesis import given
from hypothesis import strategies as st

from argosy.frame.expressions.nodes import col
from argosy.frame.operators.order import permute
from argosy.frame.plan import Concat, Filter, Memory, Operation, Project, Repartition, Sample, Shuffle, Slice

SHARES = st.sampled_from([TINY, PLENTY])


@st.composite
def uneven(draw: Any, max_rows: int = 20) -> Operation:
    """Rows of any type in an order that is settled, some of them filtered out, so that ranks hold different numbers."""
    table = draw(tables({"k": draw(kinds(PAYLOADS))}, max_rows))
    first = draw(st.integers(0, max_rows))
    return Filter(input=Memory(table=table), predicate=(col("row") >= first) | (col("row") < first // 2))


@law(25)
@given(
    plan=uneven(),
    offset=st.integers(-25, 25),
    length=st.none() | st.integers(0, 25),
    num_ranks=NUM_RANKS,
)
def test_a_slice_equals_the_reference(plan: Operation, offset: int, length: int | None, num_ranks: int) -> None:
    check(Slice(input=plan, offset=offset, length=length), num_ranks, in_order=True)


@law(15)
@given(data=st.data(), num_ranks=NUM_RANKS)
def test_the_rows_of_the_second_frame_come_after_all_of_the_first(data: st.DataObject, num_ranks: int) -> None:
    types = data.draw(st.lists(kinds(PAYLOADS), min_size=1, max_size=3))
    sides = []
    for _ in range(2):
        num_rows = data.draw(st.integers(0, 9))
        sides.append(pa.table({f"c{i}": data.draw(columns(kind, num_rows)) for i, kind in enumerate(types)}))
    check(Concat(first=Memory(table=sides[0]), second=Memory(table=sides[1])), num_ranks, in_order=True)


@law(15)
@given(plan=uneven(), seed=st.integers(0, 2**63), num_ranks=NUM_RANKS, share_nbytes=SHARES)
def test_a_shuffle_is_one_permutation_on_any_number_of_ranks(
    plan: Operation, seed: int, num_ranks: int, share_nbytes: int
) -> None:
    shuffled = Shuffle(input=plan, seed=seed)
    result = together(parts(shuffled, num_ranks, share_nbytes))
    assert_same(result, reference.run(plan))
    assert_same(result, together(parts(shuffled, 1)), in_order=True)


@law(20)
@given(size=st.integers(0, 300), seed=st.integers(0, 2**63))
def test_a_permutation_is_one_for_every_size_and_seed(size: int, seed: int) -> None:
    assert sorted(permute(np.arange(size, dtype=np.uint64), size, seed).tolist()) == list(range(size))


def test_different_seeds_give_different_orders() -> None:
    table = pa.table({"row": range(50)})
    orders = {
        tuple(together(parts(Shuffle(input=Memory(table=table), seed=seed), 2)).column(0).to_pylist())
        for seed in range(20)
    }
    assert len(orders) == 20


@law(15)
@given(data=st.data(), seed=st.integers(0, 2**63), num_ranks=NUM_RANKS)
def test_a_sample_has_as_many_rows_as_asked_for_and_the_same_on_any_number_of_ranks(
    data: st.DataObject, seed: int, num_ranks: int
) -> None:
    below = data.draw(uneven())
    rows = reference.run(below)
    if data.draw(st.booleans()):
        wanted = data.draw(st.integers(0, 25))
        plan = Sample(input=below, num_rows=wanted, seed=seed)
    else:
        share = data.draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
        wanted = round(share * rows.num_rows)
        plan = Sample(input=below, fraction=share, seed=seed)
    result = together(parts(plan, num_ranks))
    drawn = result.column("row").to_pylist()
    assert len(drawn) == min(wanted, rows.num_rows)
    assert drawn == [row for row in rows.column("row").to_pylist() if row in set(drawn)]
    assert_same(result, together(parts(plan, 1)), in_order=True)


def test_every_row_is_drawn_about_as_often() -> None:
    table = pa.table({"row": range(20)})
    times: Counter[int] = Counter()
    for seed in range(400):
        plan = Sample(input=Memory(table=table), num_rows=5, seed=seed)
        times.update(together(parts(plan, 1)).column("row").to_pylist())
    assert set(times) == set(range(20))
    assert 60 < min(times.values()) <= max(times.values()) < 145


@law(15)
@given(plan=uneven(), num_ranks=NUM_RANKS)
def test_repartition_gives_even_shares_in_order(plan: Operation, num_ranks: int) -> None:
    tables = parts(Repartition(input=plan), num_ranks)
    assert_same(together(tables), reference.run(plan), in_order=True)
    sizes = [table.num_rows for table in tables]
    assert max(sizes) - min(sizes) <= 1


@law(15)
@given(data=st.data(), num_ranks=NUM_RANKS)
def test_repartition_by_keys_brings_equal_ones_to_one_rank(data: st.DataObject, num_ranks: int) -> None:
    table = data.draw(tables({"k": data.draw(kinds()), "j": data.draw(kinds())}, 20))
    by = data.draw(st.sampled_from([("k",), ("k", "j")]))
    tables_of = parts(Repartition(input=Memory(table=table), by=by), num_ranks)
    assert_same(together(tables_of), table)
    owners: dict[Any, set[int]] = {}
    for rank, part in enumerate(tables_of):
        for key in reference.keys_of(part, by):
            owners.setdefault(key, set()).add(rank)
    assert all(len(ranks) == 1 for ranks in owners.values())


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("num_rows", [0, 2, 7])
def test_rows_without_columns_are_counted(num_ranks: int, num_rows: int) -> None:
    some, other = (Project(input=Memory(table=pa.table({"x": range(n)})), columns=()) for n in (num_rows, 3))
    check(Slice(input=some, offset=1, length=4), num_ranks)
    check(Slice(input=some, offset=-2), num_ranks)
    check(Concat(first=some, second=other), num_ranks)
    assert together(parts(Sample(input=some, num_rows=1), num_ranks)).num_rows == min(num_rows, 1)
    check(Shuffle(input=some, seed=1), num_ranks)
    check(Repartition(input=some), num_ranks)
    check(some, num_ranks)
