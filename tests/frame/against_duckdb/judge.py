"""A frame on some ranks, held against DuckDB's rows."""

from __future__ import annotations

import math
import random
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from argosy.comm.ranks import Ranks
from argosy.comm.threads import on_threads
from argosy.frame.context import Context
from argosy.frame.execute import execute
from argosy.frame.plan import Memory, Operation, Resident
from argosy.frame.rewrite import rewrite

from . import kinds, tables
from .state import Oracle, State

PLENTY = 1 << 30


class Wrong(AssertionError):
    """The frame does not give what DuckDB gives."""


@dataclass(frozen=True)
class Setting:
    """How a frame is run."""

    num_ranks: int
    share_nbytes: int
    """Of memory, for each rank."""
    rewritten: bool
    seed: int
    """Says which rank has which rows of a table."""

    @classmethod
    def drawn(cls, draw: random.Random, num_ranks: int, state: State) -> Setting:
        """With memory for everything, or so little that the larger steps take a few rounds."""
        scarce = max(int(_largest(state) * draw.choice([0.5, 1, 2, 4]) / num_ranks), 100)
        return cls(num_ranks, draw.choice([PLENTY, scarce]), draw.random() < 0.8, draw.randrange(1 << 30))


def _largest(state: State) -> int:
    """About the bytes of the largest step."""
    return max([16 * state.num_rows * len(state.cols), *map(_largest, state.before)])


def check(oracle: Oracle, state: State, setting: Setting) -> None:
    """Raises `Wrong`, or what the frame raised."""
    found = run(state.frame.plan, setting)
    _check_schema(found, state)
    compare(found, oracle.rows(state), state)


def first_wrong(oracle: Oracle, state: State, setting: Setting) -> tuple[State, str] | None:
    """The first of the steps that led to a frame which goes wrong, and how."""
    for before in state.before:
        if (found := first_wrong(oracle, before, setting)) is not None:
            return found
    try:
        check(oracle, state, setting)
    except Exception as error:
        return state, f"{type(error).__name__}: {error}"
    return None


def run(plan: Operation, setting: Setting) -> pa.Table:
    """All rows, in order of rank, as `collect` would put them together."""
    plan = rewrite(plan) if setting.rewritten else plan
    folder = Path(tempfile.gettempdir())

    def on_rank(ranks: Ranks) -> pa.Table:
        mine = own_rows(plan, setting, ranks.rank)
        return execute(mine, Context(ranks=ranks, share_nbytes=setting.share_nbytes, folder=folder)).table()

    found = on_threads(setting.num_ranks, on_rank)
    for table in found:
        table.validate(full=True)
    if any(not table.schema.equals(found[0].schema) for table in found):
        raise Wrong(f"ranks have different columns: {[table.schema for table in found]}")
    if found[0].num_columns == 0:
        return pa.table({"": pa.nulls(sum(table.num_rows for table in found))}).select([])
    return pa.concat_tables(found)


def own_rows(plan: Operation, setting: Setting, rank: int) -> Operation:
    """The plan over tables of which each rank has a part: an even one, or any."""
    if isinstance(plan, Memory):
        cuts = tables.shares(random.Random(setting.seed + plan.table.num_rows), plan.table.num_rows, setting.num_ranks)
        part = plan.table.slice(cuts[rank], cuts[rank + 1] - cuts[rank])
        return Resident(future=part, kept_schema=plan.schema, num_rows=plan.table.num_rows, nbytes=plan.table.nbytes)
    return plan.with_inputs(*(own_rows(one, setting, rank) for one in plan.inputs)) if plan.inputs else plan


def _check_schema(found: pa.Table, state: State) -> None:
    if found.schema.names != state.schema.names:
        raise Wrong(f"columns are called {found.schema.names} where {state.schema.names} were promised")
    for index, (ours, promised) in enumerate(zip(found.schema.types, state.schema.types, strict=True)):
        wide = state.cols[index].widens and pt.is_decimal(ours)
        if not (ours.equals(promised) or wide):
            raise Wrong(f"column {found.schema.names[index]!r} is {ours} where {promised} was promised")


def compare(found: pa.Table, wanted: pa.Table, state: State) -> None:
    """Rows in order where that is settled, else each as often; numbers that are not exact within rounding."""
    if found.num_rows != wanted.num_rows:
        raise Wrong(f"{found.num_rows} rows where there are {wanted.num_rows}")
    ours, theirs = _rows(kinds.carried(found)), _rows(wanted)
    if state.sorted_on:
        keys = [[tuple(row[index] for index in state.sorted_on) for row in rows] for rows in (ours, theirs)]
        _same(*keys, "the order of the keys is wrong")
    if state.ordered:
        _same(ours, theirs, "rows are wrong, or in the wrong order")
    elif Counter(ours) != Counter(theirs):
        exact = [index for index, one in enumerate(state.cols) if one.exact]
        rough = [index for index, one in enumerate(state.cols) if not one.exact]
        order = [sorted(rows, key=lambda row: _place(row, exact, rough)) for rows in (ours, theirs)]
        _same(*order, "rows are wrong")


def _place(row: tuple[Any, ...], exact: list[int], rough: list[int]) -> Any:
    return repr([row[index] for index in exact]), [
        (0, f"{row[index]:+.6e}") if isinstance(row[index], float) else (1, repr(row[index])) for index in rough
    ]


def _same(ours: list[Any], theirs: list[Any], what: str) -> None:
    for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        if not all(map(_close, one, other)):
            raise Wrong(f"{what}: row {place} is\n  {one}\nwhere\n  {other}\nis right")


def _close(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == other or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    columns = [_values(column) for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def _values(column: pa.ChunkedArray) -> list[Any]:
    """As Python has them, but that NaN equals itself, -0.0 is 0.0, and lists can be counted."""
    if pt.is_nested(column.type):
        return [None if value is None else repr(value) for value in column.to_pylist()]
    if pt.is_floating(column.type):
        wide = column.cast(pa.float64())
        nan = pc.is_nan(wide).to_pylist()
        return [
            "not a number" if bad else value and value + 0.0 for value, bad in zip(wide.to_pylist(), nan, strict=True)
        ]
    return list(column.to_pylist())
