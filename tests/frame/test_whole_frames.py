"""What is asked of a whole frame gathers nothing whole: cuts keep the rows that they give, and statistics move only
counts and distinct values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from frame.operators.laws import parts

import argosy
from argosy import col
from argosy.comm.ranks import Ranks
from argosy.frame.cuts import first_rows, last_rows
from argosy.frame.plan import Operation, Resident
from argosy.frame.rows import Rows

SCHEMA = pa.schema({"a": pa.int64()})


def stream(num_tables: int, taken: list[int]) -> Rows:
    def tables() -> Iterator[pa.Table]:
        for number in range(num_tables):
            taken.append(number)
            yield pa.table({"a": np.arange(1000) + 1000 * number})

    return Rows(SCHEMA, tables())


@pytest.mark.parametrize("num_rows", [0, 1, 999, 1000, 1500, 20_000])
def test_the_first_and_the_last_rows_are_held_without_the_rest(num_rows: int) -> None:
    first, last = first_rows(stream(10, []), num_rows, stop=False), last_rows(stream(10, []), num_rows)
    assert first.column("a").to_pylist() == list(range(10_000))[:num_rows]
    assert last.column("a").to_pylist() == list(range(10_000))[max(10_000 - num_rows, 0) :]
    for found in (first, last):
        assert found.get_total_buffer_size() <= 8 * (4 * num_rows + 1000)


def test_ranks_that_make_tables_together_all_take_all_of_them() -> None:
    taken: list[int] = []
    first_rows(stream(10, taken), 5, stop=False)
    assert taken == list(range(10))
    taken.clear()
    first_rows(stream(10, taken), 5, stop=True)
    assert taken == [0]


class Counting:
    """Ranks that count the bytes which leave them."""

    def __init__(self, inner: Ranks, sent: list[int]) -> None:
        self._inner, self._sent = inner, sent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def start_exchange(self, send: Any, send_at: Any, receive: Any, receive_at: Any) -> Any:
        own = self._inner.rank
        self._sent.append(int(send_at[-1] - send_at[0]) - int(send_at[own + 1] - send_at[own]))
        return self._inner.start_exchange(send, send_at, receive, receive_at)


def test_quantiles_and_distinct_values_of_a_whole_frame_leave_the_rows_where_they_are() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=30_000)
    table = pa.table({"x": pa.array(numbers, mask=rng.random(30_000) < 0.1), "few": rng.integers(0, 50, 30_000)})
    aggregates = {"low": col("x").quantile(0.25), "mid": col("x").median(), "kinds": col("few").n_unique()}
    plan = argosy.from_arrow(table).select(**aggregates, mean=col("x").mean()).plan
    shares = [table.slice(10_000 * rank, 10_000) for rank in range(3)]

    def own(operation: Operation, rank: int) -> Operation:
        if not operation.inputs:
            return Resident(future=shares[rank], kept_schema=table.schema, num_rows=table.num_rows, nbytes=table.nbytes)
        return operation.with_inputs(*(own(one, rank) for one in operation.inputs))

    sent: list[int] = []
    found = pa.concat_tables(parts(lambda rank: own(plan, rank), 3, around=lambda ranks: Counting(ranks, sent)))
    there = np.array([one for one in table.column("x").to_pylist() if one is not None])
    assert found.to_pylist() == [
        {
            "low": np.quantile(there, 0.25),
            "mid": np.median(there),
            "kinds": 50,
            "mean": pytest.approx(there.mean()),
        }
    ]
    assert 0 < sum(sent) < 10_000, "of 480,000 bytes"
