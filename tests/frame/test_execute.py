"""Rows that are where they have to be do not move again, and a plan of several operations is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from frame import reference
from frame.operators.laws import PLENTY, assert_same, check, parts, together

from argosy.comm.ranks import Exchange, Ranks
from argosy.comm.threads import on_threads
from argosy.frame import resident
from argosy.frame.context import Context
from argosy.frame.execute import execute
from argosy.frame.expressions.nodes import col
from argosy.frame.plan import (
    Agg,
    Aggregate,
    Filter,
    Join,
    Memory,
    Operation,
    Project,
    Repartition,
    Resident,
    Sort,
)

COUNT = (Agg(name="n", kind="len", column=None), Agg(name="total", kind="sum", column="a"))


class Counting:
    """Ranks that count the bytes they send to others."""

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks
        self.rank, self.size = ranks.rank, ranks.size
        self.num_exchanges = 0

    def allgather(self, value: Any) -> list[Any]:
        return self.ranks.allgather(value)

    def alltoall_rows(self, send: Any) -> Any:
        self.num_exchanges += 1
        return self.ranks.alltoall_rows(send)

    def start_exchange(self, send: Any, send_at: Any, receive: Any, receive_at: Any) -> Exchange:
        self.num_exchanges += 1
        return self.ranks.start_exchange(send, send_at, receive, receive_at)


def exchanges(plan: Operation | Callable[[int], Operation], num_ranks: int = 3) -> int:
    """How many exchanges all ranks took part in, together."""
    seen: list[Counting] = []

    def count(ranks: Ranks) -> Counting:
        seen.append(Counting(ranks))
        return seen[-1]

    parts(plan, num_ranks, around=count)
    return sum(one.num_exchanges for one in seen)


@pytest.fixture
def left() -> Memory:
    return Memory(
        table=pa.table({"k": [i % 50 for i in range(400)], "j": [i % 7 for i in range(400)], "a": range(400)})
    )


@pytest.fixture
def right() -> Memory:
    return Memory(table=pa.table({"k": [i % 60 for i in range(300)], "b": range(300)}))


def joined(left: Operation, right: Operation, how: Any = "inner") -> Join:
    return Join(left=left, right=right, left_on=("k",), right_on=("k",), how=how, algorithm="hash")


@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti"])
def test_a_group_by_of_the_key_of_a_join_moves_nothing_more(left: Memory, right: Memory, how: str) -> None:
    below = joined(left, right, how)
    grouped = Aggregate(input=below, keys=("k",), aggs=COUNT)
    assert exchanges(grouped) == exchanges(below)
    check(grouped, 3)


def test_more_keys_than_those_of_the_join_move_nothing_either(left: Memory, right: Memory) -> None:
    below = joined(left, right)
    grouped = Aggregate(input=below, keys=("j", "k"), aggs=COUNT)
    assert exchanges(grouped) == exchanges(below)
    check(grouped, 3)


def test_other_keys_than_those_of_the_join_do_move(left: Memory, right: Memory) -> None:
    below = joined(left, right)
    grouped = Aggregate(input=below, keys=("j",), aggs=COUNT)
    assert exchanges(grouped) > exchanges(below)
    check(grouped, 3)


def test_filters_and_new_columns_leave_rows_in_place(left: Memory, right: Memory) -> None:
    below = joined(left, right)
    above = Project(
        input=Filter(input=below, predicate=col("a") > 10), columns=(("k", col("k")), ("a", col("a") + col("b")))
    )
    grouped = Aggregate(input=above, keys=("k",), aggs=COUNT)
    assert exchanges(grouped) == exchanges(below)
    check(grouped, 3)


def test_a_key_that_was_computed_anew_is_not_in_place(left: Memory, right: Memory) -> None:
    below = joined(left, right)
    above = Project(input=below, columns=(("k", col("k") // 2), ("a", col("a"))))
    grouped = Aggregate(input=above, keys=("k",), aggs=COUNT)
    assert exchanges(grouped) > exchanges(below)
    check(grouped, 3)


@pytest.mark.parametrize("how", ["right", "full"])
def test_rows_of_the_right_that_found_no_partner_are_grouped_rightly(left: Memory, right: Memory, how: str) -> None:
    table = pa.concat_tables([right.table, pa.table({"k": pa.nulls(9, pa.int64()), "b": range(9)})])
    check(Aggregate(input=joined(left, Memory(table=table), how), keys=("k",), aggs=COUNT), 3)


@pytest.mark.parametrize("how", ["left", "anti", "full"])
def test_null_keys_that_stayed_where_they_were_are_one_group(left: Memory, right: Memory, how: str) -> None:
    table = pa.concat_tables([left.table, left.table.set_column(0, "k", pa.nulls(400, pa.int64()))])
    for num_ranks in (1, 2, 3, 5):
        check(Aggregate(input=joined(Memory(table=table), right, how), keys=("k",), aggs=COUNT), num_ranks)


def test_a_join_of_two_groupings_by_its_key_moves_nothing_more(left: Memory, right: Memory) -> None:
    one = Aggregate(input=left, keys=("k",), aggs=COUNT)
    other = Aggregate(input=right, keys=("k",), aggs=(Agg(name="m", kind="max", column="b"),))
    both = joined(one, other)
    assert exchanges(both) == exchanges(one) + exchanges(other)
    check(both, 3)


def test_a_repartition_by_the_same_key_moves_nothing_more(left: Memory) -> None:
    once = Repartition(input=left, by=("k",))
    assert exchanges(Repartition(input=once, by=("k",))) == exchanges(once)
    assert exchanges(Aggregate(input=once, keys=("k",), aggs=COUNT)) == exchanges(once)


def kept(plan: Operation, num_ranks: int, tmp_path: Any) -> Callable[[int], Operation]:
    """The plan's rows as `persist` leaves them on the ranks: a plan for each rank."""

    def run(ranks: Ranks) -> pa.Table:
        rows = execute(plan, Context(ranks=ranks, share_nbytes=PLENTY, folder=tmp_path))
        return resident.mark(rows.table(), rows.in_place_by, ranks.size)

    tables = on_threads(num_ranks, run)
    return lambda rank: Resident(future=tables[rank], kept_schema=plan.schema, num_rows=0, nbytes=0)


def test_a_frame_that_was_persisted_is_still_in_place(left: Memory, right: Memory, tmp_path: Any) -> None:
    below = joined(left, right)
    on_ranks = kept(below, 3, tmp_path)

    def grouped(rank: int) -> Operation:
        return Aggregate(input=on_ranks(rank), keys=("k",), aggs=COUNT)

    assert exchanges(grouped) == 0
    assert_same(together(parts(grouped, 3)), reference.run(Aggregate(input=below, keys=("k",), aggs=COUNT)))


def test_a_frame_that_was_persisted_on_other_ranks_is_not(left: Memory, right: Memory, tmp_path: Any) -> None:
    below = joined(left, right)
    on_ranks = kept(below, 2, tmp_path)
    empty = Memory(table=below.schema.empty_table())

    def grouped(rank: int) -> Operation:
        return Aggregate(input=on_ranks(rank) if rank < 2 else empty, keys=("k",), aggs=COUNT)

    assert exchanges(grouped) > 0
    assert_same(together(parts(grouped, 3)), reference.run(Aggregate(input=below, keys=("k",), aggs=COUNT)))


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("share_nbytes", [1 << 14, PLENTY])
def test_operations_on_top_of_one_another_pass_on_what_they_made(
    left: Memory, right: Memory, num_ranks: int, share_nbytes: int
) -> None:
    grouped = Aggregate(input=joined(left, right, "full"), keys=("k", "j"), aggs=COUNT)
    back = Join(left=grouped, right=right, left_on=("k",), right_on=("k",), how="left")
    plan = Sort(input=back, by=("total", "k", "j", "b"), descending=(True, False, False, True))
    check(plan, num_ranks, in_order=True, share_nbytes=share_nbytes)
