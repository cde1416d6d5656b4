"""A plan as people read it: one operation a line, its inputs below it, with what each is estimated to return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch

from argosy.frame.estimate import estimate
from argosy.frame.expressions.nodes import Expr
from argosy.frame.join_algorithm import cheapest_algorithm
from argosy.frame.known import known_rows
from argosy.frame.peak import peak_of
from argosy.frame.plan import (
    Agg,
    Aggregate,
    Distinct,
    Filter,
    Join,
    Memory,
    Operation,
    Project,
    Repartition,
    Resident,
    Sample,
    Scan,
    SetOperation,
    Shuffle,
    Slice,
    Sort,
)
from argosy.frame.rewrite.expressions import bare, column_name
from argosy.units import format_nbytes

_MOST_NAMES = 8


def explain(plan: Operation, num_ranks: int = 1) -> str:
    """The tree of the plan. `~` marks a number of rows that is an estimate and not known; a peak always is one."""
    return "\n".join(_lines(plan, num_ranks, "", ""))


def _lines(operation: Operation, num_ranks: int, first: str, rest: str) -> Iterator[str]:
    known = known_rows(operation)
    rows = f"{known:,}" if known is not None else f"~{estimate(operation).num_rows:,.0f}"
    text = expected(operation, num_ranks) if isinstance(operation, Join) else said(operation)
    peak = f", peak {format_nbytes(peak_of(operation, num_ranks))} a rank" if operation.inputs else ""
    yield f"{first}{text}  [{rows} rows, {format_nbytes(estimate(operation).nbytes)}{peak}]"
    for index, one in enumerate(operation.inputs, start=1):
        is_last = index == len(operation.inputs)
        yield from _lines(one, num_ranks, rest + ("└─ " if is_last else "├─ "), rest + ("   " if is_last else "│  "))


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (
        f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    )


@singledispatch
def said(operation: Operation) -> str:
    """What an operation does, in a few words."""
    return type(operation).__name__


@said.register
def _(operation: Scan) -> str:
    shown = "" if operation.columns is None else f", columns {_list(operation.columns)}"
    where = "" if operation.predicate is None else f", where {operation.predicate!r}"
    return f"Scan {operation.source.describe()}{shown}{where}"


@said.register
def _(operation: Memory) -> str:
    return f"Table in memory: {_list(operation.schema.names) or 'no columns'}"


@said.register
def _(operation: Resident) -> str:
    tier = "" if operation.asked.tier == "ram" else f", tier {operation.asked.tier}"
    return f"Table on the ranks{tier}: {_list(operation.schema.names) or 'no columns'}"


@said.register
def _(operation: Project) -> str:
    return f"Select {_list([_column(name, expr) for name, expr in operation.columns]) or 'no columns'}"


def _column(name: str, expr: Expr) -> str:
    return name if column_name(expr) == name else f"{name} = {bare(expr)!r}"


@said.register
def _(operation: Filter) -> str:
    return f"Filter {operation.predicate!r}"


@said.register
def _(operation: Join) -> str:
    pairs = zip(operation.left_on, operation.right_on, strict=True)
    keys = _list([ours if ours == theirs else f"{ours} = {theirs}" for ours, theirs in pairs])
    return f"Join {operation.how}" + (f" on {keys}" if keys else "")


def expected(join: Join, num_ranks: int) -> str:
    """The join and its algorithm: the one that was asked for, or the one that its estimate leads to."""
    if join.algorithm != "auto":
        return f"{said(join)}, {join.algorithm}"
    algorithm = cheapest_algorithm(join.how, estimate(join.left).nbytes, estimate(join.right).nbytes, num_ranks)
    return f"{said(join)}, {algorithm} expected"


@said.register
def _(operation: Sort) -> str:
    pairs = zip(operation.by, operation.descending, strict=True)
    keys = _list([f"{name} descending" if descending else name for name, descending in pairs])
    return f"Sort by {keys}" + (", nulls first" if operation.nulls_first else "")


@said.register
def _(operation: Aggregate) -> str:
    keys = f" by {_list(operation.keys)}" if operation.keys else ""
    aggs = _list([f"{agg.name} = {_aggregate(agg)}" for agg in operation.aggs])
    return f"Aggregate{keys}" + (f": {aggs}" if aggs else "")


def _aggregate(agg: Agg) -> str:
    parameter = "" if agg.parameter is None else f", {agg.parameter}"
    return f"{agg.kind}({agg.column or ''}{parameter})"


@said.register
def _(operation: Distinct) -> str:
    return "Distinct rows" if operation.subset is None else f"First row for each {_list(operation.subset)}"


@said.register
def _(operation: SetOperation) -> str:
    return operation.kind.capitalize()


@said.register
def _(operation: Slice) -> str:
    length = "all rows" if operation.length is None else f"{operation.length:,} rows"
    return f"Slice {length} from {operation.offset}"


@said.register
def _(operation: Sample) -> str:
    wanted = f"{operation.num_rows:,} rows" if operation.fraction is None else f"{operation.fraction:.3g} of the rows"
    return f"Sample {wanted}, seed {operation.seed}"


@said.register
def _(operation: Shuffle) -> str:
    return f"Shuffle, seed {operation.seed}"


@said.register
def _(operation: Repartition) -> str:
    return "Repartition evenly" if operation.by is None else f"Repartition by {_list(operation.by)}"
