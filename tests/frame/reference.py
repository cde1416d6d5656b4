"""What a plan means, in plain Python on one rank: slow, short, and the measure of everything that is fast.

The meaning is SQL's, as DuckDB has it. A null key matches nothing in a join, but nulls form one group in a group-by
and are equal in set operations. NaN equals NaN as a key and is the largest number in a sort, a min, a max and a
quantile. Aggregates leave nulls out and are null when nothing is left (count, len and n_unique are 0); first and last
take the row as it is, null or not. The order of rows is that of the input where an operation does not say otherwise.
`Sample` and `Shuffle` draw by the row's number, with a generator of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import singledispatch
from typing import Any

import numpy as np
import pyarrow as pa

from argosy.frame import plan
from argosy.frame.expressions.evaluate import evaluate

NAN = "not a number"
"""Stands for NaN in a key, so that it equals itself."""


@singledispatch
def run(operation: plan.Operation) -> pa.Table:
    """The rows of the plan, with its schema."""
    raise NotImplementedError(f"the reference does not know {type(operation).__name__}")


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    """Rows as tuples that can be compared, hashed and counted."""
    columns = [[frozen(value) for value in column.to_pylist()] for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def frozen(value: Any) -> Any:
    """The value as a key: hashable, NaN equal to NaN."""
    if isinstance(value, float) and math.isnan(value):
        return NAN
    if isinstance(value, list | tuple):
        return tuple(frozen(item) for item in value)
    if isinstance(value, dict):
        return tuple((name, frozen(item)) for name, item in value.items())
    return value


def keys_of(table: pa.Table, names: Sequence[str]) -> list[tuple[Any, ...]]:
    return rows_of(table.select(list(names)))


def take(table: pa.Table, indices: Iterable[int | None]) -> pa.Table:
    wanted = pa.array(list(indices), pa.int64())
    if table.num_columns == 0:
        return with_rows(len(wanted))
    return table.take(wanted)


def with_rows(num_rows: int) -> pa.Table:
    """A table of no columns that still has rows."""
    return pa.table({"x": pa.nulls(num_rows)}).select([])


def make(columns: dict[str, pa.Array | pa.ChunkedArray], num_rows: int) -> pa.Table:
    return pa.table(columns) if columns else with_rows(num_rows)


@run.register
def _(operation: plan.Scan) -> pa.Table:
    source = operation.source
    tables = [t for piece in source.pieces for t in source.read(piece, None, None, 1 << 20)]
    table = pa.concat_tables([source.schema.empty_table(), *tables])
    if operation.predicate is not None:
        table = table.filter(evaluate(operation.predicate, table))
    return table if operation.columns is None else table.select(list(operation.columns))


@run.register
def _(operation: plan.Memory) -> pa.Table:
    return operation.table.replace_schema_metadata(None)


@run.register
def _(operation: plan.Resident) -> pa.Table:
    if isinstance(operation.future, pa.Table):
        return operation.future
    return pa.concat_tables(operation.future.results())


@run.register
def _(operation: plan.Project) -> pa.Table:
    table = run(operation.input)
    return make({name: evaluate(expr, table) for name, expr in operation.columns}, table.num_rows)


@run.register
def _(operation: plan.Filter) -> pa.Table:
    table = run(operation.input)
    kept = evaluate(operation.predicate, table).to_pylist()
    return take(table, [index for index, is_true in enumerate(kept) if is_true])


@run.register
def _(operation: plan.Join) -> pa.Table:
    left, right = run(operation.left), run(operation.right)
    if operation.how == "cross":
        pairs: list[tuple[int | None, int | None]] = [
            (i, j) for i in range(left.num_rows) for j in range(right.num_rows)
        ]
        return _beside(operation, left, right, pairs)
    rows_with: dict[tuple[Any, ...], list[int]] = {}
    for j, key in enumerate(keys_of(right, operation.right_on)):
        if None not in key:
            rows_with.setdefault(key, []).append(j)
    matches = [rows_with.get(key, []) for key in keys_of(left, operation.left_on)]
    if operation.how in ("semi", "anti"):
        return take(left, [i for i, found in enumerate(matches) if bool(found) == (operation.how == "semi")])
    pairs = []
    for i, found in enumerate(matches):
        pairs += [(i, j) for j in found]
        if not found and operation.how in ("left", "full"):
            pairs.append((i, None))
    if operation.how in ("right", "full"):
        matched = {j for _, j in pairs}
        pairs += [(None, j) for j in range(right.num_rows) if j not in matched]
    return _beside(operation, left, right, pairs)


def _beside(
    operation: plan.Join, left: pa.Table, right: pa.Table, pairs: list[tuple[int | None, int | None]]
) -> pa.Table:
    from_left, from_right = take(left, [i for i, _ in pairs]), take(right, [j for _, j in pairs])
    arrays = {name: from_left.column(name) for name in left.column_names}
    for name, other in zip(operation.left_on, operation.right_on, strict=True):
        both = zip(pairs, from_left.column(name).to_pylist(), from_right.column(other).to_pylist(), strict=True)
        values = [theirs if i is None else ours for (i, _), ours, theirs in both]
        arrays[name] = pa.array(values, left.schema.field(name).type)
    kept = [name for name in right.column_names if name not in operation.right_on]
    columns = [*arrays.values(), *(from_right.column(name) for name in kept)]
    return make(dict(zip(operation.schema.names, columns, strict=True)), len(pairs))


@run.register
def _(operation: plan.Sort) -> pa.Table:
    table = run(operation.input)
    order = list(range(table.num_rows))
    for name, descending in reversed(list(zip(operation.by, operation.descending, strict=True))):
        values = table.column(name).to_pylist()
        nulls = [i for i in order if values[i] is None]
        others = sorted((i for i in order if values[i] is not None), key=lambda i: _rank(values[i]), reverse=descending)
        order = nulls + others if operation.nulls_first else others + nulls
    return take(table, order)


def _rank(value: Any) -> tuple[int, Any]:
    """Sorts numbers with NaN as the largest."""
    return (1, 0) if isinstance(value, float) and math.isnan(value) else (0, value)


@run.register
def _(operation: plan.Aggregate) -> pa.Table:
    table = run(operation.input)
    groups: dict[tuple[Any, ...], list[int]] = {} if operation.keys else {(): []}
    for index, key in enumerate(keys_of(table, operation.keys)):
        groups.setdefault(key, []).append(index)
    firsts = [rows[0] for rows in groups.values()] if operation.keys else []
    arrays = {name: table.column(name).take(pa.array(firsts, pa.int64())) for name in operation.keys}
    for agg in operation.aggs:
        values = [None] * table.num_rows if agg.column is None else table.column(agg.column).to_pylist()
        results = [aggregate(agg, [values[i] for i in rows]) for rows in groups.values()]
        arrays[agg.name] = _as_array(results, operation.schema.field(agg.name).type)
    return make(arrays, len(groups))


def _as_array(values: list[Any], wanted: pa.DataType) -> pa.Array:
    """An integer sum that does not fit becomes a decimal of 38 digits."""
    try:
        return pa.array(values, wanted)
    except OverflowError:
        return pa.array([None if value is None else Decimal(value) for value in values], pa.decimal128(38, 0))


def aggregate(agg: plan.Agg, rows: list[Any]) -> Any:
    """One aggregate of the values of one group."""
    values = [value for value in rows if value is not None]
    if agg.kind in _OF_ROWS:
        return _OF_ROWS[agg.kind](rows)
    if agg.kind in ("count", "n_unique"):
        return len(values) if agg.kind == "count" else len({frozen(value) for value in values})
    if not values:
        return None
    if agg.kind in ("var", "std"):
        return _spread(agg.kind, values, 1 if agg.parameter is None else agg.parameter)
    if agg.kind in ("median", "quantile"):
        return _quantile(values, 0.5 if agg.kind == "median" else agg.parameter)
    return _OF_VALUES[agg.kind](values)


_OF_ROWS: dict[str, Callable[[list[Any]], Any]] = {
    "len": len,
    "first": lambda rows: rows[0] if rows else None,
    "last": lambda rows: rows[-1] if rows else None,
}
_OF_VALUES: dict[str, Callable[[list[Any]], Any]] = {
    "sum": sum,
    "min": lambda values: min(values, key=_rank),
    "max": lambda values: max(values, key=_rank),
    "mean": lambda values: float(sum(values)) / len(values),
    "any": any,
    "all": all,
}


def _spread(kind: str, values: list[Any], ddof: int) -> float | None:
    if len(values) <= ddof:
        return None
    with np.errstate(all="ignore"):
        variance = float(np.var(np.array(values, np.float64), ddof=ddof))
    return variance if kind == "var" else math.sqrt(variance)


def _quantile(values: list[Any], share: float) -> float:
    """Between the two nearest values, in proportion."""
    ordered = [float(value) for value in sorted(values, key=_rank)]
    position = share * (len(ordered) - 1)
    low, high = ordered[math.floor(position)], ordered[math.ceil(position)]
    return low if low == high else low + (high - low) * (position - math.floor(position))


@run.register
def _(operation: plan.Distinct) -> pa.Table:
    table = run(operation.input)
    return _distinct(table, table.column_names if operation.subset is None else operation.subset)


def _distinct(table: pa.Table, names: Sequence[str]) -> pa.Table:
    first: dict[tuple[Any, ...], int] = {}
    for index, key in enumerate(keys_of(table, names)):
        first.setdefault(key, index)
    return take(table, first.values())


@run.register
def _(operation: plan.SetOperation) -> pa.Table:
    left, right = run(operation.left), run(operation.right)
    if operation.kind == "union":
        return _distinct(pa.concat_tables([left, right.cast(left.schema)]), left.column_names)
    there = set(rows_of(right))
    kept = [i for i, row in enumerate(rows_of(left)) if (row in there) == (operation.kind == "intersect")]
    return _distinct(take(left, kept), left.column_names)


@run.register
def _(operation: plan.Concat) -> pa.Table:
    first, second = run(operation.first), run(operation.second)
    if first.num_columns == 0:
        return with_rows(first.num_rows + second.num_rows)
    return pa.concat_tables([first, second.cast(first.schema)])


@run.register
def _(operation: plan.Slice) -> pa.Table:
    table = run(operation.input)
    start = operation.offset if operation.offset >= 0 else table.num_rows + operation.offset
    stop = table.num_rows if operation.length is None else start + operation.length
    return take(table, range(table.num_rows)[max(start, 0) : max(stop, 0)])


@run.register
def _(operation: plan.Sample) -> pa.Table:
    table = run(operation.input)
    wanted = operation.num_rows
    if wanted is None:
        wanted = round((operation.fraction or 0) * table.num_rows)
    drawn = np.random.default_rng(operation.seed).permutation(table.num_rows)[:wanted]
    return take(table, sorted(int(i) for i in drawn))


@run.register
def _(operation: plan.Shuffle) -> pa.Table:
    table = run(operation.input)
    return take(table, [int(i) for i in np.random.default_rng(operation.seed).permutation(table.num_rows)])


@run.register
def _(operation: plan.Repartition) -> pa.Table:
    return run(operation.input)


def same_rows(one: pa.Table, other: pa.Table, in_order: bool = False) -> bool:
    """Whether both have the same columns and the same rows, each as often; in the same order where asked."""
    if one.schema.names != other.schema.names or one.schema.types != other.schema.types:
        return False
    first, second = rows_of(one), rows_of(other)
    return first == second if in_order else sorted(first, key=repr) == sorted(second, key=repr)


def is_sorted(table: pa.Table, sort: plan.Sort) -> bool:
    """Whether the rows are in the order that the sort asks for, whatever the order of equal ones."""
    again = run(replace(sort, input=plan.Memory(table=table)))
    return keys_of(again, sort.by) == keys_of(table, sort.by)
