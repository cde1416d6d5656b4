"""What a frame is to do: immutable operations, each with the schema of its result.

An operation knows nothing of ranks. `rewrite` turns a plan into a better one with the same result; `execute` runs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from argosy.frame.expressions.nodes import Expr
from argosy.frame.expressions.types import type_of
from argosy.frame.io.source import Source
from argosy.frame.keep.asked import IN_RAM, Asked
from argosy.frame.names import joined_names
from argosy.pilot.future import Future

if TYPE_CHECKING:
    from argosy.frame.keep.held import Held

JoinHow = Literal["inner", "left", "right", "full", "semi", "anti", "cross"]
JoinAlgorithm = Literal["auto", "hash", "sort", "broadcast"]
SetKind = Literal["union", "intersect", "difference"]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """Base of all. `inputs` are the operations it takes its rows from."""

    @property
    def inputs(self) -> tuple[Operation, ...]:
        return tuple(value for name in self.__dataclass_fields__ if isinstance(value := getattr(self, name), Operation))

    def with_inputs(self, *inputs: Operation) -> Operation:
        """The same operation on other inputs."""
        names = [name for name in self.__dataclass_fields__ if isinstance(getattr(self, name), Operation)]
        return replace(self, **dict(zip(names, inputs, strict=True)))

    @cached_property
    def schema(self) -> pa.Schema:
        raise NotImplementedError

    def walk(self) -> Iterator[Operation]:
        """This operation and all below it, inputs first."""
        for one in self.inputs:
            yield from one.walk()
        yield self


@dataclass(frozen=True, kw_only=True)
class Scan(Operation):
    """Rows of files. `columns` and `predicate` are what rewriting has pushed down into it."""

    source: Source
    columns: tuple[str, ...] | None = None
    predicate: Expr | None = None

    @cached_property
    def schema(self) -> pa.Schema:
        if self.columns is None:
            return self.source.schema
        return pa.schema([self.source.schema.field(name) for name in self.columns])


@dataclass(frozen=True, kw_only=True)
class Memory(Operation):
    """A table in the process that made the frame; the ranks get a slice each."""

    table: pa.Table

    @cached_property
    def schema(self) -> pa.Schema:
        return self.table.schema.remove_metadata()


@dataclass(frozen=True, kw_only=True)
class Resident(Operation):
    """A frame that lies on the ranks: the kept Future of the task that made it; on a rank, that rank's rows, as a table
    or with each column in a tier of its own."""

    future: Future | Held | pa.Table
    kept_schema: pa.Schema
    num_rows: int
    nbytes: int
    asked: Asked = IN_RAM
    """Where its columns were to lie."""

    @cached_property
    def schema(self) -> pa.Schema:
        return self.kept_schema


@dataclass(frozen=True, kw_only=True)
class Project(Operation):
    """These columns, each computed from the columns of the input; `select`, `with_columns`, `drop` and `rename`."""

    input: Operation
    columns: tuple[tuple[str, Expr], ...]

    @cached_property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field(name, type_of(expr, self.input.schema)) for name, expr in self.columns])


@dataclass(frozen=True, kw_only=True)
class Filter(Operation):
    """Rows where the predicate is true; not those where it is null."""

    input: Operation
    predicate: Expr

    @cached_property
    def schema(self) -> pa.Schema:
        return self.input.schema


@dataclass(frozen=True, kw_only=True)
class Join(Operation):
    """Rows of both sides with equal keys. Null keys match nothing.

    The result has the columns of the left, then those of the right without its keys; a name that is taken gets the
    suffix. With `right` and `full` the key columns hold the key of whichever side is there.
    """

    left: Operation
    right: Operation
    left_on: tuple[str, ...]
    right_on: tuple[str, ...]
    how: JoinHow = "inner"
    suffix: str = "_right"
    algorithm: JoinAlgorithm = "auto"

    @cached_property
    def schema(self) -> pa.Schema:
        left, right = self.left.schema, self.right.schema
        if self.how in ("semi", "anti"):
            return left
        renamed = joined_names(left.names, right.names, self.right_on, self.suffix)
        return pa.schema([*left, *(right.field(name).with_name(new) for name, new in renamed.items())])


@dataclass(frozen=True, kw_only=True)
class Sort(Operation):
    """Rows in order, over all ranks: those of rank 0 come first. Stable. NaN is the largest number."""

    input: Operation
    by: tuple[str, ...]
    descending: tuple[bool, ...]
    nulls_first: bool = False

    @cached_property
    def schema(self) -> pa.Schema:
        return self.input.schema


@dataclass(frozen=True, kw_only=True, slots=True)
class Agg:
    """One aggregate of one column: the result's name, what to do, and the input column (none for `count()`)."""

    name: str
    kind: str
    """sum min max count mean var std first last n_unique median quantile len any all"""
    column: str | None
    parameter: Any = None
    """The share of a quantile; the degrees of freedom that var and std take off."""


@dataclass(frozen=True, kw_only=True)
class Aggregate(Operation):
    """One row for each distinct key, or one row in all when there are no keys. Null is a key like any other."""

    input: Operation
    keys: tuple[str, ...]
    aggs: tuple[Agg, ...]

    @cached_property
    def schema(self) -> pa.Schema:
        from argosy.frame.aggregates import result_type

        keys = [self.input.schema.field(name) for name in self.keys]
        return pa.schema([*keys, *(pa.field(agg.name, result_type(agg, self.input.schema)) for agg in self.aggs)])


@dataclass(frozen=True, kw_only=True)
class Distinct(Operation):
    """One row of each set of equal ones, the first; equal in the columns `subset` where that is given."""

    input: Operation
    subset: tuple[str, ...] | None = None

    @cached_property
    def schema(self) -> pa.Schema:
        return self.input.schema


@dataclass(frozen=True, kw_only=True)
class SetOperation(Operation):
    """Distinct rows of both, of both at once, or of the left alone; null equals null."""

    kind: SetKind
    left: Operation
    right: Operation

    @cached_property
    def schema(self) -> pa.Schema:
        return self.left.schema


@dataclass(frozen=True, kw_only=True)
class Concat(Operation):
    """All rows of the first, then all rows of the second."""

    first: Operation
    second: Operation

    @cached_property
    def schema(self) -> pa.Schema:
        return self.first.schema


@dataclass(frozen=True, kw_only=True)
class Slice(Operation):
    """`length` rows from `offset` on (to the end when None); a negative offset counts from the end."""

    input: Operation
    offset: int
    length: int | None = None

    @cached_property
    def schema(self) -> pa.Schema:
        return self.input.schema


@dataclass(frozen=True, kw_only=True)
class Sample(Operation):
    """Rows drawn without replacement: so many, or this share of them. The same seed draws the same rows."""

    input: Operation
    num_rows: int | None = None
    fraction: float | None = None
    seed: int = 0

    @cached_property
    def schema(self) -> pa.Schema:
        return self.input.schema


@dataclass(frozen=True, kw_only=True)
class Shuffle(Operation):
    """All rows in random order over all ranks. The same seed gives the same order, on however many ranks."""

    input: Operation
    seed: int

    @cached_property
    def schema(self) -> pa.Schema:
        return self.input.schema


@dataclass(frozen=True, kw_only=True)
class Repartition(Operation):
    """Rows spread evenly over the ranks in their order; or, with `by`, equal keys on one rank."""

    input: Operation
    by: tuple[str, ...] | None = None

    @cached_property
    def schema(self) -> pa.Schema:
        return self.input.schema
