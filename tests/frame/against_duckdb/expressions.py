"""Random expressions, and the same in SQL.

DuckDB takes NaN for equal to NaN and for the largest number in comparisons, and cuts off where whole numbers are
divided; expressions follow IEEE 754 and Python. Both are written out in the SQL.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.types as pt

from argosy import col, lit, when
from argosy.frame.expressions.nodes import Expr
from argosy.frame.expressions.types import type_of

from . import kinds
from .state import Col, State

_SMALL = 1 << 40
_LARGEST = {8: 127, 16: (1 << 15) - 1, 32: (1 << 31) - 1, 64: (1 << 63) - 1}


@dataclass(frozen=True)
class Value:
    """One value for each row."""

    expr: Expr
    sql: str
    kind: pa.DataType
    facts: Col

    @property
    def is_float(self) -> bool:
        return bool(pt.is_floating(self.kind))


def usable(state: State) -> list[int]:
    return [index for index, one in enumerate(state.cols) if one.exact and not one.widens]


def column(state: State, index: int) -> Value:
    return Value(col(state.name(index)), f"c{index}", state.kind(index), state.cols[index])


def condition(draw: random.Random, state: State, depth: int = 2) -> Value:
    """True, false or null."""
    choice = draw.random()
    if depth and choice < 0.15:
        one = condition(draw, state, depth - 1)
        return _truth(~one.expr, f"(NOT {one.sql})")
    if depth and choice < 0.4:
        one, other = condition(draw, state, depth - 1), condition(draw, state, depth - 1)
        if draw.random() < 0.5:
            return _truth(one.expr & other.expr, f"({one.sql} AND {other.sql})")
        return _truth(one.expr | other.expr, f"({one.sql} OR {other.sql})")
    indices = usable(state)
    if not indices:
        return _truth(lit(True), "true")
    index = draw.choice(indices)
    value = column(state, index)
    if draw.random() < 0.15 or not kinds.can_be_key(value.kind) or pt.is_null(value.kind):
        if draw.random() < 0.5:
            return _truth(value.expr.is_null(), f"({value.sql} IS NULL)")
        return _truth(value.expr.is_not_null(), f"({value.sql} IS NOT NULL)")
    if pt.is_boolean(value.kind) and draw.random() < 0.6:
        return value
    if draw.random() < 0.2:
        number = numeric(draw, state)
        value = number if number is not None else value
    return draw.choice([_compared, _compared, _member, _between, _of_columns, _of_text])(draw, state, value)


def _truth(expr: Expr, sql: str) -> Value:
    return Value(expr, sql, pa.bool_(), Col())


def _constant(draw: random.Random, kind: pa.DataType, small: bool = False) -> tuple[pa.Scalar, str]:
    pool = kinds.values(kind)
    if pt.is_integer(kind) and (small or draw.random() < 0.6):
        pool = [0, 1, 2, 3, 7]
    picked = draw.choice(pool)
    return pa.scalar(picked, kinds.plain(kind)), kinds.sql_value(picked, kind)


def compared(op: str, one: str, other: str, is_float: bool) -> str:
    if not is_float:
        return f"({one} {op} {other})"
    word = "true" if op == "!=" else "false"
    return (
        f"(CASE WHEN {one} IS NULL OR {other} IS NULL THEN NULL WHEN isnan({one}) OR isnan({other}) THEN {word} "
        f"ELSE {one} {op} {other} END)"
    )


_OPS: dict[str, Callable[[Expr, object], Expr]] = {
    "=": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def _compared(draw: random.Random, state: State, value: Value) -> Value:
    scalar, sql = _constant(draw, value.kind)
    op = draw.choice(list(_OPS))
    if draw.random() < 0.1:
        sql, scalar = f"NULL::{kinds.sql_type(value.kind)}", pa.scalar(None, scalar.type)
    return _truth(_OPS[op](value.expr, lit(scalar)), compared(op, value.sql, sql, value.is_float))


def _member(draw: random.Random, state: State, value: Value) -> Value:
    picked = [_constant(draw, value.kind) for _ in range(draw.randint(1, 4))]
    picked = [(one, sql) for one, sql in picked if one.as_py() == one.as_py()]
    if draw.random() < 0.2:
        picked.append((pa.scalar(None, kinds.plain(value.kind)), f"NULL::{kinds.sql_type(value.kind)}"))
    if not picked:
        return _truth(value.expr.is_null(), f"({value.sql} IS NULL)")
    return _truth(value.expr.is_in([one for one, _ in picked]), f"({value.sql} IN ({', '.join(s for _, s in picked)}))")


def _between(draw: random.Random, state: State, value: Value) -> Value:
    (low, low_sql), (high, high_sql) = _constant(draw, value.kind), _constant(draw, value.kind)
    above = compared(">=", value.sql, low_sql, value.is_float)
    below = compared("<=", value.sql, high_sql, value.is_float)
    return _truth(value.expr.between(lit(low), lit(high)), f"({above} AND {below})")


def _of_columns(draw: random.Random, state: State, value: Value) -> Value:
    """With a column of the same type."""
    alike = [index for index in usable(state) if state.kind(index).equals(value.kind)]
    if not alike:
        return _compared(draw, state, value)
    other = column(state, draw.choice(alike))
    op = draw.choice(list(_OPS))
    return _truth(_OPS[op](value.expr, other.expr), compared(op, value.sql, other.sql, value.is_float))


def _of_text(draw: random.Random, state: State, value: Value) -> Value:
    if not kinds.is_text(value.kind):
        return _compared(draw, state, value)
    word = draw.choice(["", "a", "é", "a prefix", ", 1"])
    sql = kinds.sql_value(word, pa.string())
    choices = [
        (value.expr.str.starts_with(word), f"starts_with({value.sql}, {sql})"),
        (value.expr.str.ends_with(word), f"ends_with({value.sql}, {sql})"),
        (value.expr.str.contains(word), f"contains({value.sql}, {sql})"),
        (value.expr.str.len_chars() > 2, f"(length({value.sql}) > 2)"),
    ]
    return _truth(*draw.choice(choices))


def numeric(draw: random.Random, state: State, depth: int = 2) -> Value | None:
    """A number small enough that no step of the way overflows, and whose fractions are halves of halves."""
    numbers = [
        index
        for index in usable(state)
        if (pt.is_integer(state.kind(index)) and state.cols[index].bound < _SMALL)
        or pt.is_float32(state.kind(index))
        or pt.is_float64(state.kind(index))
    ]
    if not numbers:
        return None
    value = column(state, draw.choice(numbers))
    for _ in range(draw.randint(0, depth)):
        made = _arithmetic(draw, state, value, numbers)
        if made is not None:
            value = made
    return value


def _arithmetic(draw: random.Random, state: State, value: Value, numbers: list[int]) -> Value | None:
    schema, bound = state.schema, value.facts.bound
    op = draw.choice(["+", "-", "*", "neg", "abs", "//", "%", "/", "fill", "cast", "clip", "case"])
    if op in "+-*":
        if draw.random() < 0.5:
            number = draw.choice([0, 1, 2, 3] if op != "*" or not value.is_float else [1, 2])
            other = Value(lit(number), str(number), value.kind, Col(bound=number, finite=True))
        else:
            other = column(state, draw.choice(numbers))
            if op == "*" and (other.is_float or value.is_float):
                return None
        expr = {"+": value.expr + other.expr, "-": value.expr - other.expr, "*": value.expr * other.expr}[op]
        limit = bound * other.facts.bound if op == "*" else bound + other.facts.bound
        finite = value.facts.finite and other.facts.finite
        return _made(expr, "({0} %s {1})" % op, [value.sql, other.sql], schema, Col(bound=limit, finite=finite))  # noqa: UP031
    if op in ("neg", "abs"):
        if op == "neg" and pt.is_unsigned_integer(value.kind):
            return None
        expr = -value.expr if op == "neg" else value.expr.abs()
        return _made(expr, "(-{0})" if op == "neg" else "abs({0})", [value.sql], schema, value.facts)
    if op in ("//", "%", "/"):
        number = draw.choice([1, 2, 4])
        if op == "/":
            facts = Col(exact=value.facts.exact, finite=value.facts.finite)
            return _made(value.expr / number, f"({{0}} / {number})", [f"({value.sql})::DOUBLE"], schema, facts)
        if value.is_float:
            if not value.facts.finite or not value.facts.exact:
                return None
            whole, rest = "floor({0} / %d)" % number, "({0} - %d * floor({0} / %d))" % (number, number)  # noqa: UP031
            expr = value.expr // number if op == "//" else value.expr % number
            return _made(expr, whole if op == "//" else rest, [value.sql], schema, Col(finite=True))
        wide = f"({value.sql})::HUGEINT"
        rest = f"((({wide} % {number}) + {number}) % {number})"
        if op == "%":
            return _made(value.expr % number, rest, [], schema, Col(bound=number))
        return _made(value.expr // number, f"(({wide} - {rest}) // {number})", [], schema, replace(value.facts))
    if op == "fill":
        number = draw.choice([0, 5])
        facts = replace(value.facts, bound=max(bound, number))
        return _made(value.expr.fill_null(number), f"coalesce({{0}}, {number})", [value.sql], schema, facts)
    if op == "cast":
        to = draw.choice([pa.float64(), pa.int64()])
        if value.is_float and to == pa.int64():
            return None
        return _made(value.expr.cast(to), "{0}", [value.sql], schema, replace(value.facts, finite=not value.is_float))
    if op == "clip":
        if value.is_float:
            return None
        return _made(value.expr.clip(0, 5), "CASE WHEN {0} IS NULL THEN NULL ELSE least(greatest({0}, 0), 5) END",
                     [value.sql], schema, Col(bound=5))  # fmt: skip
    test = condition(draw, state, 0)
    other = column(state, draw.choice([i for i in numbers if state.kind(i).equals(value.kind)] or numbers))
    if not other.kind.equals(value.kind):
        return None
    facts = Col(bound=max(bound, other.facts.bound), finite=value.facts.finite and other.facts.finite)
    expr = when(test.expr).then(value.expr).otherwise(other.expr)
    return _made(expr, f"(CASE WHEN {test.sql} THEN {{0}} ELSE {{1}} END)", [value.sql, other.sql], schema, facts)


def _made(expr: Expr, form: str, args: list[str], schema: pa.Schema, facts: Col) -> Value | None:
    """The value in the type that it has here; None where it might not fit."""
    kind = type_of(expr, schema)
    if pt.is_integer(kind):
        most = _LARGEST[kind.bit_width]
        if facts.bound > most or (pt.is_unsigned_integer(kind) and "-" in form):
            return None
    name = kinds.sql_type(kind)
    sql = f"({form.format(*(f'({one})::{name}' for one in args))})::{name}"
    return Value(expr, sql, kind, facts if pt.is_integer(kind) else replace(facts, bound=math.inf))


def anything(draw: random.Random, state: State) -> Value | None:
    """A new column."""
    choice = draw.random()
    if choice < 0.6:
        return numeric(draw, state)
    if choice < 0.8:
        return condition(draw, state)
    kind = draw.choice([pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.date32(), pa.decimal128(20, 2)])
    picked = draw.choice([None, draw.choice(list(kinds.KEYS[kind]))])
    bound = abs(picked) if pt.is_integer(kind) and picked is not None else 0
    return Value(lit(pa.scalar(picked, kind)), kinds.sql_value(picked, kind), kind, Col(bound=bound))
