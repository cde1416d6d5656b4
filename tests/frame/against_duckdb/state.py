"""A frame, and DuckDB's table of the same rows, as they are after some steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

import argosy

from . import kinds

MOST_ROWS = 6_000


class CannotAsk(Exception):
    """DuckDB does not do this step, or it would make too many rows: another one is drawn."""


@dataclass(frozen=True)
class Col:
    """What is known of a column beside its name and type."""

    bound: float = float("inf")
    """No number in it is larger, either way; of integers."""
    exact: bool = True
    """Every sound way to compute it gives the same bits; else it is compared within rounding, and is no key."""
    finite: bool = False
    """No NaN and no infinity."""
    widens: bool = False
    """It is a sum that may have left 64 bits, and then is a decimal where the plan says integer."""


@dataclass(frozen=True)
class State:
    frame: argosy.DataFrame
    table: str
    """In DuckDB: its columns are c0, c1, ..., and `o`, the place of each row, where the order is settled."""
    cols: tuple[Col, ...]
    num_rows: int
    ordered: bool
    sorted_on: tuple[int, ...] = ()
    """Columns whose values are in a known order, given by `o`, though that of the rows may be open."""
    said: str = ""
    """The step that made it."""
    before: tuple[State, ...] = field(default=(), repr=False)

    @property
    def schema(self) -> pa.Schema:
        return self.frame.schema

    def kind(self, index: int) -> pa.DataType:
        return self.schema.field(index).type

    def name(self, index: int) -> str:
        return self.schema.names[index]

    def key_columns(self) -> list[int]:
        """Columns that can be keys."""
        return [
            index
            for index, one in enumerate(self.cols)
            if one.exact and not one.widens and kinds.can_be_key(self.kind(index))
        ]


class Oracle:
    """One connection to DuckDB. Every step makes a table, so that its rows are counted and looked at."""

    def __init__(self) -> None:
        self._connection = duckdb.connect(config={"threads": 1})
        self._made = 0

    def leaf(self, table: pa.Table) -> State:
        frame = argosy.from_arrow(table)
        order = pa.array(range(table.num_rows), pa.int64())
        cols = tuple(_facts(column) for column in table.columns)
        name = self._name()
        self._connection.register("given", kinds.carried(table).append_column("o", order))
        self._connection.execute(f"create temp table {name} as select * from given")
        self._connection.unregister("given")
        return State(frame, name, cols, table.num_rows, ordered=True, said="from_arrow")

    def step(self, frame: argosy.DataFrame, query: str, cols: tuple[Col, ...], said: str, **facts: Any) -> State:
        """`query` gives the columns of the frame as c0, c1, ..., and `o` if the order is settled."""
        before = facts.pop("before")
        if facts.pop("may_explode", False) and self._count(query) > MOST_ROWS:
            raise CannotAsk("too many rows")
        name = self._name()
        ((size,),) = self.run(f"create temp table {name} as {query}")
        assert len(frame.schema) == len(cols)
        return State(frame, name, cols, size, said=said, before=before, **facts)

    def _count(self, query: str) -> int:
        ((found,),) = self.run(f"select count(*) from ({query})")
        return int(found)

    def run(self, query: str) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(query).fetchall()
        except (duckdb.OutOfRangeException, duckdb.ConversionException) as error:
            raise CannotAsk(str(error)) from error

    def rows(self, state: State) -> pa.Table:
        columns = ", ".join(f"c{index}" for index in range(len(state.cols)))
        order = "order by o" if state.ordered or state.sorted_on else ""
        return self._connection.sql(f"select {columns} from {state.table} {order}").to_arrow_table()

    def forget(self) -> None:
        """All tables: the next plan begins."""
        for number in range(self._made):
            self._connection.execute(f"drop table if exists t{number}")
        self._made = 0

    def close(self) -> None:
        self._connection.close()

    def _name(self) -> str:
        self._made += 1
        return f"t{self._made - 1}"


def _facts(column: pa.ChunkedArray) -> Col:
    if pt.is_integer(column.type):
        ends = pc.min_max(column)
        low, high = ends["min"].as_py(), ends["max"].as_py()
        return Col(bound=max(abs(low), abs(high)) if low is not None else 0)
    if pt.is_floating(column.type):
        return Col(finite=bool(pc.all(pc.is_finite(column.cast(pa.float64())), min_count=0).as_py()))
    return Col()


def settled(oracle: Oracle, state: State, directions: list[bool], nulls_first: bool) -> State:
    """The rows in one order only, without the columns that cannot be sorted by."""
    if state.ordered:
        return state
    keep = state.key_columns()
    if not keep:
        raise CannotAsk("nothing to sort by")
    names = [state.name(index) for index in keep]
    down = directions[: len(keep)]
    frame = state.frame.select(*names).sort(*names, descending=down, nulls_first=nulls_first)
    order = ", ".join(order_term(f"c{index}", one, nulls_first) for index, one in zip(keep, down, strict=True))
    columns = ", ".join(f"c{index} as c{place}" for place, index in enumerate(keep))
    query = f"select {columns}, row_number() over (order by {order}) as o from {state.table}"
    cols = tuple(state.cols[index] for index in keep)
    said = f"select and sort by {names}, descending={down}, nulls_first={nulls_first}"
    return oracle.step(frame, query, cols, said, ordered=True, before=(state,))


def order_term(column: str, descending: bool, nulls_first: bool) -> str:
    return f"{column} {'desc' if descending else 'asc'} nulls {'first' if nulls_first else 'last'}"
