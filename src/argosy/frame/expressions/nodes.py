"""The kinds of expression there are, and the functions that make the first ones: `col`, `lit`, `when`, `count`."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from argosy.arguments import show, text
from argosy.calls import PURE, declared, value
from argosy.errors import TypeMismatch
from argosy.frame.expressions.expr import Expr
from argosy.frame.expressions.literals import scalar_of, text_of

__all__ = [
    "Aggregation",
    "Alias",
    "Call",
    "Cases",
    "Cast",
    "Column",
    "Expr",
    "Literal",
    "Then",
    "When",
    "as_expr",
    "call",
    "col",
    "count",
    "lit",
    "when",
]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Column(Expr):
    """A column of the table, by name."""

    name: str

    @property
    def key(self) -> Hashable:
        return "column", self.name


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Literal(Expr):
    """The same value in every row."""

    scalar: pa.Scalar
    weak: bool = False
    """A plain number, which takes the type of what it is combined with where it fits."""

    @property
    def key(self) -> Hashable:
        return "literal", self.scalar.type, text_of(self.scalar), self.weak


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Call(Expr):
    """An operation of `functions` on other expressions; the options are plain values with a hash."""

    op: str
    args: tuple[Expr, ...]
    options: tuple[Any, ...] = ()

    @property
    def inputs(self) -> tuple[Expr, ...]:
        return self.args

    def with_inputs(self, *inputs: Expr) -> Expr:
        return Call(op=self.op, args=inputs, options=self.options)

    @property
    def key(self) -> Hashable:
        return self.op, tuple(one.key for one in self.args), self.options


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Cast(Expr):
    """The same values as another type."""

    input: Expr
    to: pa.DataType

    @property
    def inputs(self) -> tuple[Expr, ...]:
        return (self.input,)

    def with_inputs(self, *inputs: Expr) -> Expr:
        (one,) = inputs
        return Cast(input=one, to=self.to)

    @property
    def key(self) -> Hashable:
        return "cast", self.input.key, self.to


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Alias(Expr):
    """The same column under another name."""

    input: Expr
    name: str

    @property
    def inputs(self) -> tuple[Expr, ...]:
        return (self.input,)

    def with_inputs(self, *inputs: Expr) -> Expr:
        (one,) = inputs
        return Alias(input=one, name=self.name)

    @property
    def key(self) -> Hashable:
        return "alias", self.input.key, self.name


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Cases(Expr):
    """The value beside the first condition that is true, else the default."""

    branches: tuple[tuple[Expr, Expr], ...]
    """Condition and value."""
    default: Expr

    @property
    def inputs(self) -> tuple[Expr, ...]:
        return (*(one for branch in self.branches for one in branch), self.default)

    def with_inputs(self, *inputs: Expr) -> Expr:
        *flat, default = inputs
        return Cases(branches=tuple(zip(flat[::2], flat[1::2], strict=True)), default=default)

    @property
    def key(self) -> Hashable:
        return "cases", tuple(one.key for one in self.inputs)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Aggregation(Expr):
    """One value for many rows; only `agg` can compute it."""

    kind: str
    """As in `plan.Agg`."""
    input: Expr | None
    """None for the number of rows."""
    parameter: Any = None

    @property
    def inputs(self) -> tuple[Expr, ...]:
        return () if self.input is None else (self.input,)

    def with_inputs(self, *inputs: Expr) -> Expr:
        return Aggregation(kind=self.kind, input=inputs[0] if inputs else None, parameter=self.parameter)

    @property
    def key(self) -> Hashable:
        return "aggregation", self.kind, tuple(one.key for one in self.inputs), self.parameter


@value()
@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Then(Cases):
    """A choice that may still get more conditions. As it stands it is null where none is true."""

    def when(self, condition: Any) -> When:
        return When(self.branches, as_expr(condition))

    def otherwise(self, value: Any) -> Expr:
        """The value where no condition is true."""
        return Cases(branches=self.branches, default=as_expr(value))


@value()
@dataclass(frozen=True, slots=True, eq=False)
class When:
    """A choice with a condition that waits for its value."""

    branches: tuple[tuple[Expr, Expr], ...]
    condition: Expr

    def then(self, value: Any) -> Then:
        """The value where the condition is true."""
        return Then(branches=(*self.branches, (self.condition, as_expr(value))), default=lit(None))


@declared(PURE)
def col(name: str) -> Expr:
    """The column of this name."""
    if not isinstance(name, str):
        raise TypeMismatch(f"a column's name is a string, but got {show(name)}; use lit(...) for a value")
    return Column(name=text("a column's name", name))


@declared(PURE)
def lit(value: Any) -> Expr:
    """The same value in every row: a number, string, date, None, or a pyarrow scalar where the type matters."""
    scalar, weak = scalar_of(value)
    return Literal(scalar=scalar, weak=weak)


@declared(PURE)
def when(condition: Any) -> When:
    """`when(a).then(x).when(b).then(y).otherwise(z)`: x where a is true, else y where b is true, else z."""
    return When((), as_expr(condition))


@declared(PURE)
def count() -> Expr:
    """The number of rows."""
    return Aggregation(kind="len", input=None)


def as_expr(value: Any) -> Expr:
    """An expression as it is, any other value as a literal: a string is a string here, not a column's name."""
    if isinstance(value, When):
        raise TypeMismatch("when(...) was given without then(...); say what the value is where the condition is true")
    return value if isinstance(value, Expr) else lit(value)


def call(op: str, *args: Any, options: tuple[Any, ...] = ()) -> Expr:
    """An operation of `functions` on expressions or plain values."""
    return Call(op=op, args=tuple(as_expr(one) for one in args), options=options)
