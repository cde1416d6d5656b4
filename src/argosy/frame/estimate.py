"""How large the result of an operation will be: exact at the leaves, by stated rules of thumb above.

rows of a filter      rows x the share for which each condition is taken to hold (`_SHARES`)
rows of a join        |left| x |right| / keys, where keys = the fewer rows that either side had before any filter:
                      the smaller table is taken to hold each key once, and the larger to refer to it
rows of groups        half of the input: between all equal and all distinct
bytes                 rows x the widths of the columns; a computed column has the width of its type
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import singledispatch

import pyarrow as pa

from argosy.frame.expressions.columns import columns_of, conjuncts
from argosy.frame.expressions.nodes import Alias, Call, Column, Expr
from argosy.frame.expressions.values import Values
from argosy.frame.io.source import Piece
from argosy.frame.known import known_rows, sliced_rows
from argosy.frame.names import joined_names
from argosy.frame.plan import (
    Aggregate,
    Concat,
    Distinct,
    Filter,
    Join,
    Memory,
    Operation,
    Project,
    Resident,
    Sample,
    Scan,
    SetOperation,
    Slice,
)

_SHARES = {"==": 0.1, "!=": 0.9, "<": 0.35, "<=": 0.35, ">": 0.35, ">=": 0.35, "between": 0.2}
_SHARES |= {"is_null": 0.1, "is_not_null": 0.9, "is_nan": 0.05}
_OTHER_SHARE = 0.3
_DISTINCT_SHARE = 0.5
_TEXT_NBYTES = 24.0
"""What a value of a type without fixed width is taken to need."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """Of one operation's whole result, over all ranks."""

    num_rows: float
    widths: Mapping[str, float]
    """Bytes that a value of each column needs, on average."""
    num_keys: float
    """Rows before any filter: how many keys a join takes this side to come from."""

    @property
    def nbytes(self) -> float:
        return self.num_rows * sum(self.widths.values())


def estimate(operation: Operation) -> Estimate:
    """The estimate of an operation; kept with it, so that asking again costs nothing."""
    kept: Estimate | None = vars(operation).get("_estimate")
    if kept is None:
        kept = _estimate(operation)
        vars(operation)["_estimate"] = kept
    return kept


def share_of(condition: Expr) -> float:
    """The share of rows for which a condition is taken to be true."""
    if isinstance(condition, Alias):
        return share_of(condition.input)
    if not isinstance(condition, Call):
        return _OTHER_SHARE
    if condition.op == "&":
        return share_of(condition.args[0]) * share_of(condition.args[1])
    if condition.op == "|":
        neither = (1 - share_of(condition.args[0])) * (1 - share_of(condition.args[1]))
        return 1 - neither
    if condition.op == "~":
        return 1 - share_of(condition.args[0])
    if condition.op == "is_in" and isinstance(values := condition.options[0], Values):
        return min(_SHARES["=="] * len(values), 0.8)
    return _SHARES.get(condition.op, _OTHER_SHARE)


def _share_of_all(predicate: Expr) -> float:
    share = 1.0
    for one in conjuncts(predicate):
        share *= share_of(one)
    return share


def _type_width(kind: pa.DataType) -> float:
    try:
        return float(kind.bit_width) / 8
    except ValueError:
        return _TEXT_NBYTES


def _leaf(num_rows: float, nbytes: Mapping[str, float]) -> Estimate:
    widths = {name: total / num_rows if num_rows else 0.0 for name, total in nbytes.items()}
    return Estimate(num_rows=num_rows, widths=widths, num_keys=num_rows)


@singledispatch
def _estimate(operation: Operation) -> Estimate:
    """As large as the input: sorts, shuffles, repartitions."""
    return estimate(operation.inputs[0])


@_estimate.register
def _(operation: Memory) -> Estimate:
    table = operation.table
    return _leaf(table.num_rows, {name: table.column(name).nbytes for name in table.column_names})


@_estimate.register
def _(operation: Resident) -> Estimate:
    """All columns together are known; each gets its part by the width of its type."""
    by_type = {field.name: _type_width(field.type) for field in operation.schema}
    total = sum(by_type.values())
    return _leaf(operation.num_rows, {name: operation.nbytes * width / total for name, width in by_type.items()})


@_estimate.register
def _(operation: Scan) -> Estimate:
    source = operation.source
    pieces = source.pieces if operation.predicate is None else source.prune(operation.predicate)
    row_nbytes = sum(_type_width(field.type) for field in source.schema)

    def rows(of: tuple[Piece, ...]) -> float:
        return sum(piece.nbytes / max(row_nbytes, 1) if piece.num_rows is None else piece.num_rows for piece in of)

    names = operation.schema.names
    if all(piece.column_names for piece in pieces):
        nbytes = {name: float(sum(piece.nbytes_of((name,)) for piece in pieces)) for name in names}
    else:
        total = sum(piece.nbytes for piece in pieces)
        nbytes = {name: total * _type_width(source.schema.field(name).type) / max(row_nbytes, 1) for name in names}
    whole = replace(_leaf(rows(pieces), nbytes), num_keys=rows(source.pieces))
    if operation.predicate is None:
        return whole
    return replace(whole, num_rows=whole.num_rows * _share_of_all(operation.predicate))


@_estimate.register
def _(operation: Project) -> Estimate:
    below = estimate(operation.input)
    widths = {name: _column_width(name, expr, operation, below) for name, expr in operation.columns}
    return replace(below, widths=widths)


def _column_width(name: str, expr: Expr, project: Project, below: Estimate) -> float:
    """A column keeps its width; computed text is taken to be as long as the longest text that it is made of."""
    while isinstance(expr, Alias):
        expr = expr.input
    if isinstance(expr, Column):
        return below.widths[expr.name]
    width = _type_width(project.schema.field(name).type)
    used = [below.widths[one] for one in columns_of(expr)]
    return max([width, *used]) if width == _TEXT_NBYTES else width


@_estimate.register
def _(operation: Filter) -> Estimate:
    below = estimate(operation.input)
    return replace(below, num_rows=below.num_rows * _share_of_all(operation.predicate))


@_estimate.register
def _(operation: Join) -> Estimate:
    left, right = estimate(operation.left), estimate(operation.right)
    pairs = left.num_rows * right.num_rows
    matches = pairs if operation.how == "cross" else pairs / max(min(left.num_keys, right.num_keys), 1.0)
    if operation.how in ("semi", "anti"):
        kept = min(matches, left.num_rows)
        return replace(
            left, num_rows=kept if operation.how == "semi" else max(left.num_rows - kept, left.num_rows / 10)
        )
    renamed = joined_names(
        operation.left.schema.names, operation.right.schema.names, operation.right_on, operation.suffix
    )
    widths = {**left.widths, **{new: right.widths[old] for old, new in renamed.items()}}
    num_rows = {
        "left": max(matches, left.num_rows),
        "right": max(matches, right.num_rows),
        "full": max(matches, left.num_rows + right.num_rows - matches),
    }.get(operation.how, matches)
    return Estimate(num_rows=num_rows, widths=widths, num_keys=max(left.num_keys, right.num_keys))


@_estimate.register
def _(operation: Aggregate) -> Estimate:
    below = estimate(operation.input)
    num_rows = max(below.num_rows * _DISTINCT_SHARE, min(below.num_rows, 1.0)) if operation.keys else 1.0
    widths = {
        field.name: below.widths[field.name] if field.name in operation.keys else _type_width(field.type)
        for field in operation.schema
    }
    return Estimate(num_rows=num_rows, widths=widths, num_keys=num_rows)


@_estimate.register
def _(operation: Distinct) -> Estimate:
    below = estimate(operation.input)
    return replace(below, num_rows=max(below.num_rows * _DISTINCT_SHARE, min(below.num_rows, 1.0)))


@_estimate.register
def _(operation: SetOperation) -> Estimate:
    left, right = estimate(operation.left), estimate(operation.right)
    if operation.kind == "union":
        return replace(left, num_rows=left.num_rows + right.num_rows, num_keys=left.num_keys + right.num_keys)
    return replace(left, num_rows=min(left.num_rows, right.num_rows)) if operation.kind == "intersect" else left


@_estimate.register
def _(operation: Concat) -> Estimate:
    first, second = estimate(operation.first), estimate(operation.second)
    num_rows = first.num_rows + second.num_rows
    widths = {
        name: (first.num_rows * width + second.num_rows * second.widths[name]) / num_rows if num_rows else width
        for name, width in first.widths.items()
    }
    return Estimate(num_rows=num_rows, widths=widths, num_keys=first.num_keys + second.num_keys)


@_estimate.register
def _(operation: Slice) -> Estimate:
    below = estimate(operation.input)
    known = known_rows(operation)
    num_rows = sliced_rows(round(below.num_rows), operation.offset, operation.length) if known is None else known
    return replace(below, num_rows=float(num_rows))


@_estimate.register
def _(operation: Sample) -> Estimate:
    below = estimate(operation.input)
    wanted = below.num_rows * operation.fraction if operation.fraction is not None else float(operation.num_rows or 0)
    return replace(below, num_rows=min(wanted, below.num_rows))
