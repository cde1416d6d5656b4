"""What rewrites ask of expressions: may this one be moved, doubled, computed on rows that it would not have seen?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.types as pt

from argosy.frame.arguments import Named
from argosy.frame.expressions.columns import columns_of, substitute
from argosy.frame.expressions.common import is_number, is_text, plain
from argosy.frame.expressions.nodes import Alias, Call, Cast, Column, Expr, Literal, col
from argosy.frame.expressions.types import type_of

_COMPARISONS = frozenset(["==", "!=", "<", "<=", ">", ">=", "between"])
_TESTS = _COMPARISONS | {"&", "|", "^", "~", "is_null", "is_not_null", "is_nan", "is_in"}
_OF_TEXT = ("upper", "lower", "strip", "len_chars", "contains", "starts_with", "ends_with", "slice")
_OF_TIME = ("year", "month", "day", "hour", "minute", "second", "weekday", "ordinal_day")
_SAFE = _TESTS | {f"str.{name}" for name in _OF_TEXT} | {f"dt.{name}" for name in _OF_TIME}


def bare(expr: Expr) -> Expr:
    """Without the names that it was given: a column of a plan has its name beside it."""
    while isinstance(expr, Alias):
        expr = expr.input
    return expr


def column_name(expr: Expr) -> str | None:
    """The name of the column that it is, where it is just that."""
    expr = bare(expr)
    return expr.name if isinstance(expr, Column) else None


def selected(names: Sequence[str]) -> Named:
    """Columns as they are, for a projection."""
    return tuple((name, col(name)) for name in names)


def inlined(expr: Expr, columns: Mapping[str, Expr]) -> Expr:
    """The expression with the definitions of its columns in their place. A number keeps the type of its column."""
    return substitute(bare(expr), {name: _settled(one) for name, one in columns.items()})


def _settled(expr: Expr) -> Expr:
    expr = bare(expr)
    return Literal(scalar=expr.scalar) if isinstance(expr, Literal) else expr


def may_be_inlined(expr: Expr, columns: Mapping[str, Expr], schema: pa.Schema) -> bool:
    """Whether that keeps its meaning: what is constant is computed also where there are no rows, and may fail there."""
    constants = [name for name in uses([expr]) if not columns_of(columns[name])]
    return not constants or column_name(expr) is not None or cannot_fail(inlined(expr, columns), schema)


def size(expr: Expr) -> int:
    """How many parts it has."""
    return 1 + sum(map(size, expr.inputs))


def uses(exprs: Sequence[Expr]) -> Counter[str]:
    """How often each column is used in all of them together."""
    counted: Counter[str] = Counter()
    for expr in exprs:
        if isinstance(expr, Column):
            counted[expr.name] += 1
        counted += uses(expr.inputs)
    return counted


def cannot_fail(expr: Expr, schema: pa.Schema) -> bool:
    """Whether it has a value for every row, so that it may be computed on rows that were not asked for.

    Comparisons of like with like, tests and functions of text and time never fail, nor does arithmetic of floats.
    Casts, integer arithmetic (an overflow) and parsing may; what is not known here counts as if it might.
    """
    if isinstance(expr, Column | Literal):
        return True
    if not all(cannot_fail(one, schema) for one in expr.inputs):
        return False
    if isinstance(expr, Alias):
        return True
    if isinstance(expr, Cast):
        return _widens(type_of(expr.input, schema), expr.to)
    if not isinstance(expr, Call):
        return False
    if expr.op in _COMPARISONS:
        kinds = [plain(type_of(one, schema)) for one in expr.args]
        return all(_are_alike(kinds[0], kind) for kind in kinds[1:])
    return expr.op in _SAFE or (expr.op in ("+", "-", "*", "/", "neg", "abs") and _is_of_floats(expr, schema))


def _are_alike(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether any two values of the types can be compared without a cast that could fail."""
    if one.equals(other) or (is_text(one) and is_text(other)):
        return True
    if pt.is_integer(one) and pt.is_integer(other):
        return bool(pa.uint64() not in (one, other))
    return not any(pt.is_decimal(kind) or not is_number(kind) for kind in (one, other))


def _is_of_floats(expr: Call, schema: pa.Schema) -> bool:
    return all(pt.is_floating(type_of(one, schema)) or _is_exact_float(one) for one in expr.args) and bool(
        pt.is_floating(type_of(expr, schema))
    )


def _is_exact_float(expr: Expr) -> bool:
    """A whole number that a float holds without rounding."""
    return isinstance(expr, Literal) and isinstance(value := expr.scalar.as_py(), int) and abs(value) <= 1 << 53


def _widens(one: pa.DataType, other: pa.DataType) -> bool:
    if pt.is_integer(one) and pt.is_integer(other) and pt.is_signed_integer(one) == pt.is_signed_integer(other):
        return bool(one.bit_width <= other.bit_width)
    return bool(pt.is_floating(one) and pt.is_floating(other) and one.bit_width <= other.bit_width)


def same_for_equal_keys(expr: Expr, schema: pa.Schema) -> bool:
    """Whether it has one value for all rows with equal keys.

    0.0 and -0.0 are equal as keys, and arithmetic can tell them apart; tests cannot.
    """
    if isinstance(expr, Column):
        return not pt.is_nested(schema.field(expr.name).type)
    if isinstance(expr, Call) and expr.op in _TESTS:
        return all(same_for_equal_keys(one, schema) for one in expr.inputs)
    if isinstance(expr, Alias):
        return same_for_equal_keys(expr.input, schema)
    return isinstance(expr, Literal) or not any(
        pt.is_floating(schema.field(name).type) or pt.is_nested(schema.field(name).type) for name in uses([expr])
    )
