"""The same tables and the same questions to DuckDB, in SQL."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa
import pytest
from frame import reference
from frame.operators.laws import parts, together
from hypothesis import given, settings
from hypothesis import strategies as st

import argosy
from argosy import col, count

NUM_RANKS = st.sampled_from([1, 2, 3, 5])
KEYS = {
    "int64": (pa.int64(), st.integers(-3, 3)),
    "string": (pa.string(), st.sampled_from(["", "a", "ä", "ab", "user_00000001", "user_00000002"])),
    "double": (pa.float64(), st.sampled_from([float("nan"), -0.0, 0.0, 1.5, float("inf")])),
}


@st.composite
def tables(draw: st.DrawFn, name: str) -> pa.Table:
    kind, values = KEYS[name]
    num_rows = draw(st.integers(0, 12))
    keys = draw(st.lists(st.none() | values, min_size=num_rows, max_size=num_rows))
    numbers = draw(st.lists(st.none() | st.integers(-100, 100), min_size=num_rows, max_size=num_rows))
    return pa.table({"k": pa.array(keys, kind), "v": pa.array(numbers, pa.int64())})


def asked(query: str, **given_tables: pa.Table) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        for name, table in given_tables.items():
            connection.register(name, table)
        return reference.rows_of(connection.sql(query).to_arrow_table())


def answered(frame: argosy.DataFrame, num_ranks: int) -> list[tuple[Any, ...]]:
    return reference.rows_of(together(parts(frame.plan, num_ranks)))


def in_any_order(rows: list[tuple[Any, ...]]) -> list[str]:
    """-0.0 and 0.0 are one key; which of them is shown is open."""
    return sorted(repr([one + 0.0 if isinstance(one, float) else one for one in row]) for row in rows)


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
@settings(max_examples=15, deadline=None)
@given(data=st.data(), num_ranks=NUM_RANKS)
def test_a_join(name: str, how: str, data: st.DataObject, num_ranks: int) -> None:
    left, right = data.draw(tables(name)), data.draw(tables(name)).rename_columns(["k", "w"])
    ours = argosy.from_arrow(left).join(argosy.from_arrow(right), on="k", how=how)  # type: ignore[arg-type]
    columns = "l.*" if how in ("semi", "anti") else "k, v, w"
    theirs = asked(f"select {columns} from l {how} join r using (k)", l=left, r=right)
    assert in_any_order(answered(ours, num_ranks)) == in_any_order(theirs)


@pytest.mark.parametrize("name", KEYS)
@settings(max_examples=15, deadline=None)
@given(data=st.data(), num_ranks=NUM_RANKS)
def test_groups(name: str, data: st.DataObject, num_ranks: int) -> None:
    table = data.draw(tables(name))
    v = col("v")
    ours = (
        argosy.from_arrow(table)
        .group_by("k")
        .agg(a=v.sum(), b=v.min(), c=v.max(), d=v.count(), e=count(), f=v.n_unique(), g=v.median())
    )
    query = (
        "select k, sum(v)::bigint, min(v), max(v), count(v), count(*), count(distinct v), median(v) from t group by k"
    )
    assert in_any_order(answered(ours, num_ranks)) == in_any_order(asked(query, t=table))


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("descending", [False, True])
@settings(max_examples=15, deadline=None)
@given(data=st.data(), num_ranks=NUM_RANKS)
def test_a_sort(name: str, descending: bool, data: st.DataObject, num_ranks: int) -> None:
    table = data.draw(tables(name))
    ours = argosy.from_arrow(table).sort("k", "v", descending=[descending, False])
    query = f"select * from t order by k {'desc' if descending else 'asc'} nulls last, v nulls last"
    assert answered(ours, num_ranks) == asked(query, t=table)


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize(("kind", "word"), [("union", "union"), ("intersect", "intersect"), ("difference", "except")])
@settings(max_examples=10, deadline=None)
@given(data=st.data(), num_ranks=NUM_RANKS)
def test_a_set_operation(name: str, kind: str, word: str, data: st.DataObject, num_ranks: int) -> None:
    left, right = data.draw(tables(name)), data.draw(tables(name))
    ours = getattr(argosy.from_arrow(left), kind)(argosy.from_arrow(right))
    theirs = asked(f"select * from l {word} select * from r", l=left, r=right)
    assert in_any_order(answered(ours, num_ranks)) == in_any_order(theirs)
