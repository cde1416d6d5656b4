"""Ranks that call the same operator, each with tables of its own: what differs is one error on all of them, and nobody
waits for a rank that has failed.

Operator, options and schemas are compared in one small gathering before anything moves. Columns are matched by name. A
column without values, of type null or without rows, takes the type that the others have; strings and dictionaries that
differ in the width of their offsets and indices take the wider one.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, NoReturn

import pyarrow as pa
import pyarrow.types as pt

from argosy.comm.ranks import ranks_of
from argosy.comm.told import Left, Told
from argosy.errors import RanksDiffer

_END = "the end of its block"


@dataclass(frozen=True, slots=True)
class Side:
    """One rank's table, as the others learn of it."""

    columns: tuple[tuple[str, pa.DataType], ...]
    num_rows: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Calling:
    """What one rank is about to do."""

    operator: str
    options: tuple[tuple[str, str], ...]
    sides: tuple[Side, ...]


class _Known(threading.local):
    """The last error of this thread that all ranks know of."""

    error: BaseException | None = None


_known = _Known()


class together:  # noqa: N801
    """Ranks that go through a block of frame operators, and leave it together.

        with argosy.frame.together(comm):
            table = clean(table)  # may raise on one rank
            table = argosy.frame.sort(table, "time", comm=comm)

    A rank that raises anywhere in the block says so at the next operator of the others, or at the end of the block,
    and they raise `RanksDiffer` there. Without it they would wait in that operator, where plain mpiexec cannot free
    them. What else they do with the communicator in the block is not watched.
    """

    def __init__(self, comm: Any) -> None:
        self.ranks = ranks_of(comm)
        self._told = Told(self.ranks)

    def __enter__(self) -> Told:
        return self._told

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        if self.ranks.size == 1 or (error is not None and error is _known.error):
            return False
        if error is None:
            agree(self._told, Calling(_END, (), ()))
        elif isinstance(error, Left):
            _raise_known(_left(error.said), error)
        else:
            self._told.tell(_said(error))
            _known.error = error
        return False


def agree(told: Told, mine: Calling) -> list[Calling]:
    """What every rank is about to do, which is the same but for the tables. Collective."""
    try:
        everybody = told.allgather(mine)
    except Left as error:
        _raise_known(_left(error.said), error)
    for rank, one in enumerate(everybody):
        difference = _difference(everybody[0], one, rank)
        if difference is not None:
            _raise_known(RanksDiffer(rank, difference), None)
    return everybody


def common_schema(operator: str, sides: Sequence[Side]) -> pa.Schema:
    """The columns of this table on all ranks; the order is that of the first rank that has any."""
    with_columns = [rank for rank, side in enumerate(sides) if side.columns or side.num_rows]
    if not with_columns:
        return pa.schema([])
    first = with_columns[0]
    names = [name for name, _ in sides[first].columns]
    fields = []
    for rank in with_columns:
        theirs = [name for name, _ in sides[rank].columns]
        if set(theirs) != set(names):
            _raise_known(RanksDiffer(rank, _other_names(operator, rank, theirs, first, names)), None)
    for name in names:
        kinds = [(rank, dict(sides[rank].columns)[name], sides[rank].num_rows > 0) for rank in with_columns]
        fields.append(pa.field(name, _common_type(operator, name, kinds)))
    return pa.schema(fields)


def matched(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with these columns, in this order and these types."""
    if table.num_rows == 0:
        return schema.empty_table()
    if table.num_columns == 0:
        return table
    columns = [_cast(table.column(field.name), field.type) for field in schema]
    return pa.table(columns, schema=schema)


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if column.type.equals(kind):
        return column
    if pt.is_null(column.type):
        return pa.chunked_array([pa.nulls(len(column), kind)], kind)
    return column.cast(kind)


def _difference(first: Calling, one: Calling, rank: int) -> str | None:
    if one.operator != first.operator:
        return (
            f"rank 0 is at {first.operator}, but rank {rank} is at {one.operator}; all ranks must make the same calls"
        )
    for (name, ours), (_, theirs) in zip(first.options, one.options, strict=True):
        if ours != theirs:
            return (
                f"{first.operator} has {name}={ours} on rank 0, but {name}={theirs} on rank {rank}; "
                "all ranks must give the same arguments but for the tables"
            )
    return None


def _other_names(operator: str, rank: int, theirs: list[str], first: int, names: list[str]) -> str:
    missing = ", ".join(repr(name) for name in names if name not in theirs)
    extra = ", ".join(repr(name) for name in theirs if name not in names)
    said = [f"lacks {missing}"] if missing else []
    said += [f"also has {extra}"] if extra else []
    return (
        f"{operator} needs the same columns on all ranks, but the table of rank {rank} {' and '.join(said)}, "
        f"compared with that of rank {first}; a rank without rows may pass an empty table"
    )


def _common_type(operator: str, name: str, kinds: Sequence[tuple[int, pa.DataType, bool]]) -> pa.DataType:
    """Of ranks that have rows if there are any, and values if any has."""
    told = [one for one in kinds if one[2] and not pt.is_null(one[1])] or [
        one for one in kinds if not pt.is_null(one[1])
    ]
    if not told:
        return pa.null()
    first, common, has_rows = told[0]
    for rank, kind, _ in told[1:]:
        wider = _wider(common, kind)
        if wider is None and has_rows:
            said = (
                f"{operator} needs the same types on all ranks, but column {name!r} is {common} on rank {first} and "
                f"{kind} on rank {rank}; cast one of them before the call"
            )
            _raise_known(RanksDiffer(rank, said), None)
        common = wider or common
    return common


def _wider(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """The type that holds both without a change of value; None where they are not the same but for their layout."""
    if one.equals(other):
        return one
    if pt.is_dictionary(one) and pt.is_dictionary(other):
        values = _wider(one.value_type, other.value_type)
        index = max(one.index_type, other.index_type, key=lambda kind: kind.bit_width)
        return None if values is None else pa.dictionary(_signed(index), values, one.ordered and other.ordered)
    for narrow, wide in ((pa.string(), pa.large_string()), (pa.binary(), pa.large_binary())):
        if {one, other} == {narrow, wide}:
            return wide
    return None


def _signed(index: pa.DataType) -> pa.DataType:
    """Indices of one rank may be signed and those of another not."""
    return {8: pa.int16(), 16: pa.int32()}.get(index.bit_width, pa.int64()) if pt.is_unsigned_integer(index) else index


def _left(said: dict[int, str]) -> RanksDiffer:
    rank = min(said)
    others = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
    return RanksDiffer(rank, f"rank {rank}{others} failed, and the others stopped with it; it said: {said[rank]}")


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _raise_known(error: RanksDiffer, cause: BaseException | None) -> NoReturn:
    """All ranks raise at this place, so none has to be told."""
    _known.error = error
    raise error from cause
