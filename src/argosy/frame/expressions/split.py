"""Separates the aggregates in expressions from what is computed before and after them.

`total=(col("a") * 2).sum() / count()` becomes a column `col("a") * 2`, two aggregates, and their quotient.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from argosy.errors import FrameError, TypeMismatch
from argosy.frame.aggregates import aggregated_type
from argosy.frame.expressions.columns import has_aggregate
from argosy.frame.expressions.nodes import Aggregation, Alias, Column, Expr, col
from argosy.frame.expressions.types import column_index, type_of
from argosy.frame.plan import Agg


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """Three steps that compute aggregates: a projection, an aggregation by the keys, a projection."""

    before: tuple[tuple[str, Expr], ...]
    """The keys, and the columns that the aggregates read. At least one column, where the input has one."""
    aggs: tuple[Agg, ...]
    after: tuple[tuple[str, Expr], ...]
    """The keys, and the results under the names that were asked for, from the results of `aggs`."""


def split_aggregates(named: Sequence[tuple[str, Expr]], keys: Sequence[str], schema: pa.Schema) -> Split:
    """How to compute these expressions for groups of a table of this schema.

    Equal aggregates are computed once. Raises TypeMismatch for an expression that is not one value per group.
    """
    names = [*keys, *(name for name, _ in named)]
    for name in names:
        if names.count(name) > 1:
            raise FrameError(f"two columns of the result would be called {name!r}; give one another name")
    for key in keys:
        column_index(key, schema)
    work = _Work(schema=schema, keys=tuple(keys), taken={*schema.names, *names})
    for name, expr in named:
        bare = _bare(expr)
        if isinstance(bare, Aggregation):
            work.add(bare, name)
    results = [(name, work.after(expr)) for name, expr in named]
    return Split(
        before=work.before(), aggs=tuple(work.aggs.values()), after=(*((key, col(key)) for key in keys), *results)
    )


def _bare(expr: Expr) -> Expr:
    return _bare(expr.input) if isinstance(expr, Alias) else expr


@dataclass(kw_only=True, slots=True)
class _Work:
    """What has been split so far."""

    schema: pa.Schema
    keys: tuple[str, ...]
    taken: set[str]
    aggs: dict[Hashable, Agg] = field(default_factory=dict)
    columns: dict[Hashable, tuple[str, Expr]] = field(default_factory=dict)

    def after(self, expr: Expr) -> Expr:
        """The expression over the results of its aggregates."""
        if not has_aggregate(expr):
            raise TypeMismatch(
                f"{expr!r} is not one value for a group; say which with an aggregate such as .sum() or .first()"
            )
        return self._replaced(_bare(expr))

    def _replaced(self, expr: Expr) -> Expr:
        if isinstance(expr, Aggregation):
            return col(self.add(expr, None).name)
        if isinstance(expr, Column) and expr.name not in self.keys:
            column_index(expr.name, self.schema)
            raise TypeMismatch(
                f"{expr!r} has many values in a group and stands beside an aggregate; aggregate it too, "
                "or add it to the keys"
            )
        return expr.with_inputs(*(self._replaced(one) for one in expr.inputs)) if expr.inputs else expr

    def add(self, expr: Aggregation, name: str | None) -> Agg:
        """The aggregate that computes this, under the name where it is new."""
        if expr.key in self.aggs:
            return self.aggs[expr.key]
        self._check(expr)
        column = None if expr.input is None or expr.kind == "len" else self._column(_bare(expr.input))
        agg = Agg(name=name or self._fresh("agg"), kind=expr.kind, column=column, parameter=expr.parameter)
        self.aggs[expr.key] = agg
        return agg

    def _check(self, expr: Aggregation) -> None:
        if expr.input is None:
            return
        if has_aggregate(expr.input):
            raise TypeMismatch(f"{expr!r} aggregates an aggregate; do it in two steps, with agg(...) twice")
        aggregated_type(expr.kind, type_of(expr.input, self.schema), repr(expr))

    def _column(self, expr: Expr) -> str:
        if expr.key not in self.columns:
            name = expr.name if isinstance(expr, Column) else self._fresh("column")
            self.columns[expr.key] = (name, expr)
        return self.columns[expr.key][0]

    def _fresh(self, word: str) -> str:
        number = 0
        while (name := f"_{word}_{number}") in self.taken:
            number += 1
        self.taken.add(name)
        return name

    def before(self) -> tuple[tuple[str, Expr], ...]:
        read = {key: (key, col(key)) for key in self.keys}
        read |= {name: (name, expr) for name, expr in self.columns.values()}
        if not read:
            read = {name: (name, col(name)) for name in _narrowest(self.schema)}
        return tuple(read.values())


def _narrowest(schema: pa.Schema) -> Iterable[str]:
    """The column that costs least to carry where only the number of rows matters."""

    def nbits(column: pa.Field) -> float:
        try:
            return float(column.type.bit_width)
        except ValueError:
            return float("inf")  # strings, lists: as long as they like

    return [min(schema, key=nbits).name] if len(schema) else []
