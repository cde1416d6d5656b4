"""A frame in a few numbers for each column."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from argosy.frame.expressions.common import is_comparable
from argosy.frame.plan import Agg, Aggregate, Memory, Operation
from argosy.frame.run import collect

_STATISTICS: tuple[tuple[str, str, float | None], ...] = (
    ("count", "count", None),
    ("nulls", "nulls", None),
    ("mean", "mean", None),
    ("std", "std", 1),
    ("min", "min", None),
    ("25%", "quantile", 0.25),
    ("50%", "median", None),
    ("75%", "quantile", 0.75),
    ("max", "max", None),
)
"""What the row is called, the aggregate and its parameter."""


def describe(plan: Operation) -> Memory:
    """A row for each statistic, a column for each column. Runs one aggregate over all rows.

    Numbers are described as floats, all else as text: a least and a largest value where there is an order.
    """
    described = [field for field in plan.schema if not pt.is_nested(field.type)]
    aggs = [Agg(name="rows", kind="len", column=None)]
    for index, field in enumerate(described):
        aggs += [
            Agg(name=f"{index} {label}", kind=kind, column=field.name, parameter=parameter)
            for label, kind, parameter in _STATISTICS
            if kind in _kinds(field.type)
        ]
    (found,) = collect(Aggregate(input=plan, keys=(), aggs=tuple(aggs))).to_pylist()
    columns: dict[str, pa.Array] = {"statistic": pa.array([label for label, _, _ in _STATISTICS])}
    for index, field in enumerate(described):
        found[f"{index} nulls"] = found["rows"] - found[f"{index} count"]
        values = [found.get(f"{index} {label}") for label, _, _ in _STATISTICS]
        columns[field.name] = _column(values, field.type)
    return Memory(table=pa.table(list(columns.values()), names=list(columns)))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind))


def _kinds(kind: pa.DataType) -> tuple[str, ...]:
    if _is_number(kind):
        return ("count", "mean", "std", "min", "quantile", "median", "max")
    if pt.is_null(kind) or pt.is_dictionary(kind) or not is_comparable(kind):
        return ("count",)
    return ("count", "min", "max")


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    if _is_number(kind):
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array([None if value is None else str(value) for value in values], pa.string())
