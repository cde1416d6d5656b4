"""The operators for tables of one's own: ranks agree before they move, and none waits for one that has failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import argosy
from argosy import col
from argosy.comm.ranks import Ranks
from argosy.comm.threads import on_threads
from argosy.errors import FrameError, RanksDiffer, UnknownColumn

Outcome = pa.Table | BaseException


def outcomes(num_ranks: int, function: Callable[[Ranks], Any]) -> list[Any]:
    """What each rank returned or raised."""

    def tried(ranks: Ranks) -> Any:
        try:
            return function(ranks)
        except Exception as error:
            return error

    return on_threads(num_ranks, tried)


def on_all(tables: list[pa.Table], function: Callable[..., Any]) -> list[Any]:
    return outcomes(len(tables), lambda ranks: function(tables[ranks.rank], comm=ranks))


def rows(results: list[Any]) -> list[dict[str, Any]]:
    for one in results:
        assert isinstance(one, pa.Table), one
    assert all(one.schema.equals(results[0].schema) for one in results)
    return [row for one in results for row in one.to_pylist()]


NUMBERS = pa.table({"k": [3, 1, 2], "v": [1.0, 2.0, 3.0]})


@pytest.mark.parametrize("num_ranks", [2, 3, 5])
def test_a_rank_with_columns_in_another_order_is_matched_by_name(num_ranks: int) -> None:
    tables = [NUMBERS] * (num_ranks - 1) + [NUMBERS.select(["v", "k"])]
    found = on_all(tables, lambda table, comm: argosy.frame.sort(table, "k", comm=comm))
    assert [row["k"] for row in rows(found)] == [1] * num_ranks + [2] * num_ranks + [3] * num_ranks
    assert found[0].column_names == ["k", "v"]


@pytest.mark.parametrize(
    "empty",
    [
        pa.table({}),
        NUMBERS.slice(0, 0),
        pa.table({"k": pa.array([], pa.null()), "v": pa.array([], pa.string())}),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_a_rank_without_rows_may_pass_any_empty_table(empty: pa.Table, place: int) -> None:
    tables = [NUMBERS, NUMBERS]
    tables.insert(place, empty)
    found = on_all(tables, lambda table, comm: argosy.frame.group_by(table, "k", n=col("v").sum(), comm=comm))
    assert sorted((row["k"], row["n"]) for row in rows(found)) == [(1, 4.0), (2, 6.0), (3, 2.0)]


def test_a_column_of_nulls_takes_the_type_of_the_others() -> None:
    nothing = pa.table({"k": pa.nulls(2), "v": [5.0, 6.0]})
    found = rows(on_all([nothing, NUMBERS], lambda table, comm: argosy.frame.sort(table, "k", comm=comm)))
    assert [row["k"] for row in found] == [1, 2, 3, None, None]


def test_dictionaries_and_strings_may_be_laid_out_otherwise_on_each_rank() -> None:
    def table(index: pa.DataType, text: pa.DataType) -> pa.Table:
        return pa.table(
            {
                "d": pa.DictionaryArray.from_arrays(pa.array([0, 1], index), ["x", "y"]),
                "s": pa.array(["p", "q"], text),
            }
        )

    tables = [table(pa.int8(), pa.string()), table(pa.int32(), pa.large_string()), table(pa.uint16(), pa.string())]
    found = rows(on_all(tables, lambda table, comm: argosy.frame.sort(table, "d", "s", comm=comm)))
    assert [(row["d"], row["s"]) for row in found] == [("x", "p")] * 3 + [("y", "q")] * 3


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (NUMBERS.rename_columns(["k", "w"]), "lacks 'v' and also has 'w'"),
        (NUMBERS.drop_columns("v"), "lacks 'v'"),
        (NUMBERS.set_column(0, "k", pa.array(["3", "1", "2"])), "'k' is int64 on rank 0 and string on rank 1"),
    ],
)
def test_other_columns_are_one_error_on_all_ranks_that_names_the_rank(odd: pa.Table, said: str) -> None:
    found = on_all([NUMBERS, odd, NUMBERS], lambda table, comm: argosy.frame.sort(table, "k", comm=comm))
    for error in found:
        assert isinstance(error, RanksDiffer)
        assert error.rank == 1
        assert said in str(error)


@pytest.mark.parametrize(
    "call",
    [
        lambda rank, comm: argosy.frame.sort(NUMBERS, "kv"[rank == 2], comm=comm),
        lambda rank, comm: argosy.frame.sort(NUMBERS, "k", descending=rank == 2, comm=comm),
        lambda rank, comm: argosy.frame.sort(NUMBERS, "k" if rank != 2 else "nothing", comm=comm),
        lambda rank, comm: argosy.frame.shuffle(NUMBERS, rank // 2, comm=comm),
        lambda rank, comm: argosy.frame.group_by(NUMBERS, "k", x=col("v").sum() + rank // 2, comm=comm),
        lambda rank, comm: argosy.frame.join(NUMBERS, NUMBERS, "k", how="left" if rank == 2 else "inner", comm=comm),
        lambda rank, comm: (argosy.frame.union if rank == 2 else argosy.frame.difference)(NUMBERS, NUMBERS, comm=comm),
    ],
)
def test_other_arguments_are_one_error_on_all_ranks_that_names_the_rank(call: Callable[..., Any]) -> None:
    for error in outcomes(3, lambda ranks: call(ranks.rank, ranks)):
        assert isinstance(error, RanksDiffer)
        assert error.rank == 2
        assert "rank 2" in str(error)


def test_what_is_wrong_on_all_ranks_is_each_rank_s_own_error() -> None:
    found = on_all([NUMBERS] * 3, lambda table, comm: argosy.frame.sort(table, "nothing", comm=comm))
    assert [type(error) for error in found] == [UnknownColumn] * 3


def test_a_rank_that_passes_no_table_fails_with_that_and_the_others_name_it() -> None:
    first, second = on_all([NUMBERS, "a table"], lambda table, comm: argosy.frame.unique(table, comm=comm))
    assert isinstance(first, RanksDiffer)
    assert "rank 1 failed" in str(first)
    assert "pyarrow.Table, not str" in str(first)
    assert isinstance(second, TypeError)


def test_a_value_that_fails_on_one_rank_in_the_middle_ends_all_of_them() -> None:
    """Rank 1 cannot compute its key, after the ranks have agreed."""
    tables = [pa.table({"a": [1, 2]}), pa.table({"a": [1, 2**63 - 1]}), pa.table({"a": [3]})]
    found = on_all(tables, lambda table, comm: argosy.frame.group_by(table, k=col("a"), n=col("a").sum(), comm=comm))
    assert not any(isinstance(one, pa.Table) for one in found)
    found = on_all(tables, lambda table, comm: argosy.frame.sort(table, col("a") + 1, comm=comm))
    assert [type(one) for one in found] == [RanksDiffer, FrameError, RanksDiffer]
    assert found[0].rank == 1
    assert "does not fit into int64" in str(found[0])


def test_a_rank_that_raises_before_the_call_ends_a_block_of_all_ranks() -> None:
    def work(ranks: Ranks) -> pa.Table:
        with argosy.frame.together(ranks):
            table = argosy.frame.unique(NUMBERS, comm=ranks)
            if ranks.rank == 1:
                raise KeyError("lost")
            return argosy.frame.sort(table, "k", comm=ranks)

    first, second, third = outcomes(3, work)
    assert isinstance(second, KeyError)
    for error in (first, third):
        assert isinstance(error, RanksDiffer)
        assert "KeyError: 'lost'" in str(error)


def test_a_rank_that_raises_at_the_end_of_a_block_is_heard_by_those_that_are_through() -> None:
    def work(ranks: Ranks) -> int:
        with argosy.frame.together(ranks):
            table = argosy.frame.unique(NUMBERS, comm=ranks)
            if ranks.rank == 0:
                raise ValueError("late")
        return int(table.num_rows)

    first, second = outcomes(2, work)
    assert isinstance(first, ValueError)
    assert isinstance(second, RanksDiffer)
    assert second.rank == 0


def test_an_error_inside_of_a_block_is_told_once_and_the_communicator_goes_on() -> None:
    def work(ranks: Ranks) -> list[Any]:
        caught = None
        try:
            with argosy.frame.together(ranks):
                argosy.frame.sort(NUMBERS, "k" if ranks.rank else "v", comm=ranks)
        except RanksDiffer as error:
            caught = error
        assert caught is not None
        return argosy.frame.sort(NUMBERS, "k", comm=ranks).column("k").to_pylist()

    found = outcomes(3, work)
    assert [value for one in found for value in one] == [1] * 3 + [2] * 3 + [3] * 3


def test_a_rank_that_leaves_its_block_too_early_is_named() -> None:
    def work(ranks: Ranks) -> None:
        with argosy.frame.together(ranks):
            if ranks.rank != 1:
                argosy.frame.unique(NUMBERS, comm=ranks)

    for error in outcomes(3, work):
        assert isinstance(error, RanksDiffer)
        assert "rank 0 is at unique, but rank 1 is at the end of its block" in str(error)
