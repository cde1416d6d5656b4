"""Run a plan: every rank calls `execute` with the same plan, and gets its own rows of the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch

import pyarrow as pa

from argosy.frame import peak, resident
from argosy.frame.context import Context
from argosy.frame.cuts import first_rows, last_rows
from argosy.frame.estimate import estimate
from argosy.frame.expressions.evaluate import evaluate
from argosy.frame.external_sort import external_sort
from argosy.frame.io.assign import assign
from argosy.frame.operators import distinct as distincts
from argosy.frame.operators import group_by as groups
from argosy.frame.operators import joins, order
from argosy.frame.operators.sort import local_sort, sort
from argosy.frame.plan import (
    Aggregate,
    Concat,
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
from argosy.frame.rewrite.expressions import column_name
from argosy.frame.rounds import in_rounds, settle
from argosy.frame.rows import Rows, alike, concat, stream, whole

_FEW_ROWS = 100_000


@singledispatch
def execute(operation: Operation, context: Context) -> Rows:
    raise NotImplementedError(f"no rank knows how to do {type(operation).__name__}")


# Where rows come from ------------------------------------------------------------------------------------------------


@execute.register
def _(operation: Scan, context: Context) -> Rows:
    source, columns = operation.source, operation.columns
    mine = assign(source.pieces, context.ranks.size, lambda piece: piece.nbytes_of(columns))[context.ranks.rank]

    def read() -> Iterator[pa.Table]:
        for piece in mine:
            yield from source.read(piece, columns, operation.predicate, context.batch_nbytes)

    return stream(operation.schema, read(), estimate(operation), context.ranks.size)


@execute.register
def _(operation: Memory, context: Context) -> Rows:
    table = operation.table
    if table.schema.metadata:
        table = table.replace_schema_metadata(None)
    return whole(_own_slice(table, context))


@execute.register
def _(operation: Resident, context: Context) -> Rows:
    table = resident.table_of(operation)
    return whole(resident.plain(table), resident.in_place_by(table, context.ranks.size))


def _own_slice(table: pa.Table, context: Context) -> pa.Table:
    size, rank = context.ranks.size, context.ranks.rank
    start, stop = table.num_rows * rank // size, table.num_rows * (rank + 1) // size
    return table.slice(start, stop - start)


# Row by row ----------------------------------------------------------------------------------------------------------


@execute.register
def _(operation: Project, context: Context) -> Rows:
    rows = execute(operation.input, context)
    kept = {name for name, expr in operation.columns if column_name(expr) == name}

    def project(table: pa.Table) -> pa.Table:
        columns = {name: evaluate(expr, table) for name, expr in operation.columns}
        return pa.table(columns) if columns else table.select([])

    return rows.map(_schema(operation, rows), project, kept)


@execute.register
def _(operation: Filter, context: Context) -> Rows:
    rows = execute(operation.input, context)
    return rows.map(rows.schema, lambda table: table.filter(evaluate(operation.predicate, table)))


def _schema(operation: Operation, *inputs: Rows) -> pa.Schema:
    """Of the result, for inputs that may have come out wider than the plan says, where a sum left 64 bits."""
    if all(rows.schema.equals(one.schema) for rows, one in zip(inputs, operation.inputs, strict=True)):
        return operation.schema
    return operation.with_inputs(*(Memory(table=rows.schema.empty_table()) for rows in inputs)).schema


# By key --------------------------------------------------------------------------------------------------------------


@execute.register
def _(operation: Join, context: Context) -> Rows:
    ranks = context.ranks
    left, right = execute(operation.left, context), execute(operation.right, context)
    left_on, right_on, how = operation.left_on, operation.right_on, operation.how
    left, right = _with_equal_types(left, left_on, right, right_on)
    result = estimate(operation)
    needed = peak.join_peak(
        peak.rearranged(left.schema, left_on, left.num_rows, left.nbytes),
        peak.rearranged(right.schema, right_on, right.num_rows, right.nbytes),
        max(left.num_rows, right.num_rows, result.num_rows / ranks.size),
        result.nbytes / ranks.size,
    )
    rounds = 1 if how == "cross" else context.num_rounds(needed)
    if rounds > 1:

        def part(one: pa.Table, other: pa.Table) -> pa.Table:
            return joins.join(one, other, left_on, right_on, how, operation.suffix, "auto", ranks)[0]

        tables = in_rounds([(left, left_on), (right, right_on)], rounds, part, context)
        return stream(_schema(operation, left, right), tables, result, ranks.size)
    in_place = (left.in_place_by == left_on, right.in_place_by == right_on) if how != "cross" else (False, False)
    table, together = joins.join(
        left.table(), right.table(), left_on, right_on, how, operation.suffix, operation.algorithm, ranks, in_place
    )
    return whole(table, left_on if together and ranks.size > 1 else None)


@execute.register
def _(operation: Aggregate, context: Context) -> Rows:
    ranks, keys, aggs = context.ranks, operation.keys, operation.aggs
    rows = execute(operation.input, context)
    result_nbytes = estimate(operation).nbytes / ranks.size
    needed = peak.group_peak(rows.schema, keys, rows.num_rows, rows.nbytes, result_nbytes)
    rounds = context.num_rounds(needed) if keys else 1
    if rounds > 1:
        tables = in_rounds([(rows, keys)], rounds, lambda table: groups.group_by(table, keys, aggs, ranks), context)
        schema = _schema(operation, rows)
        if any(agg.kind == "sum" and pa.types.is_integer(schema.field(agg.name).type) for agg in aggs):
            schema, tables = settle(tables, schema, context)
        return stream(schema, tables, estimate(operation), ranks.size)
    in_place = rows.in_place_by is not None and set(rows.in_place_by) <= set(keys)
    table = groups.group_by(rows.table(), keys, aggs, ranks, rows.in_place_by)
    return whole(table, rows.in_place_by if in_place else (keys or None))


@execute.register
def _(operation: Distinct, context: Context) -> Rows:
    ranks, subset = context.ranks, operation.subset
    rows = execute(operation.input, context)
    on = tuple(rows.schema.names if subset is None else subset)
    needed = peak.group_peak(rows.schema, on, rows.num_rows, rows.nbytes, rows.nbytes)
    rounds = context.num_rounds(needed) if on else 1
    if rounds > 1:
        tables = in_rounds([(rows, on)], rounds, lambda table: distincts.distinct(table, subset, ranks), context)
        return stream(rows.schema, tables, estimate(operation), ranks.size)
    return whole(distincts.distinct(rows.table(), subset, ranks), on or None)


@execute.register
def _(operation: SetOperation, context: Context) -> Rows:
    ranks, kind = context.ranks, operation.kind
    left, right = execute(operation.left, context), execute(operation.right, context)
    on = tuple(operation.schema.names)
    left, right = _with_equal_types(left, on, right, on)
    num_rows, nbytes = left.num_rows + right.num_rows, left.nbytes + right.nbytes
    rounds = context.num_rounds(peak.group_peak(left.schema, on, num_rows, nbytes, nbytes)) if on else 1
    if rounds > 1:
        tables = in_rounds(
            [(left, on), (right, on)],
            rounds,
            lambda one, other: distincts.set_operation(kind, one, other, ranks),
            context,
        )
        return stream(left.schema, tables, estimate(operation), ranks.size)
    return whole(distincts.set_operation(kind, left.table(), right.table(), ranks), on or None)


def _with_equal_types(left: Rows, left_on: Sequence[str], right: Rows, right_on: Sequence[str]) -> tuple[Rows, Rows]:
    """Both sides with these columns of one type: where a sum was widened on one side, it is on the other as well."""
    for name, other in zip(left_on, right_on, strict=True):
        one, two = left.schema.field(name).type, right.schema.field(other).type
        if pa.types.is_integer(one) and pa.types.is_decimal(two):
            left = _with_type(left, name, two)
        elif pa.types.is_decimal(one) and pa.types.is_integer(two):
            right = _with_type(right, other, one)
    return left, right


def _with_type(rows: Rows, name: str, kind: pa.DataType) -> Rows:
    index = rows.schema.get_field_index(name)
    schema = rows.schema.set(index, pa.field(name, kind))
    return rows.map(schema, lambda table: table.cast(schema), set(schema.names) - {name})


# In order ------------------------------------------------------------------------------------------------------------


@execute.register
def _(operation: Sort, context: Context) -> Rows:
    rows = execute(operation.input, context)
    by, descending, nulls_first = operation.by, operation.descending, operation.nulls_first
    needed = peak.sort_peak(rows.schema, by, rows.num_rows, rows.nbytes)
    rounds = context.num_rounds(needed)
    if rounds > 1:
        run_nbytes = int(context.share_nbytes * rows.nbytes / max(needed, 1) / 2)
        tables = external_sort(rows, by, descending, nulls_first, rounds, run_nbytes, context)
        return stream(rows.schema, tables, estimate(operation), context.ranks.size)
    return whole(sort(rows.table(), by, descending, nulls_first, context.ranks))


@execute.register
def _(operation: Slice, context: Context) -> Rows:
    below = operation.input
    offset, length = operation.offset, operation.length
    if isinstance(below, Sort) and offset >= 0 and length is not None and offset + length <= _FEW_ROWS:
        return whole(order.slice_rows(_top(below, offset + length, context), offset, length, context.ranks))
    rows = execute(below, context)
    if offset < 0:
        table = last_rows(rows, -offset)
    elif length is not None:
        table = first_rows(rows, offset + length, stop=_is_for_each_rank_alone(below))
    else:
        table = rows.table()
    return whole(order.slice_rows(table, offset, length, context.ranks))


@execute.register
def _(operation: Concat, context: Context) -> Rows:
    """The second's rows come after all of the first's, so both are spread anew, in order."""
    first, second = alike(execute(operation.first, context).table(), execute(operation.second, context).table())
    return whole(order.one_after_another(first, second, context.ranks))


@execute.register
def _(operation: Sample, context: Context) -> Rows:
    table = execute(operation.input, context).table()
    return whole(order.sample(table, operation.num_rows, operation.fraction, operation.seed, context.ranks))


@execute.register
def _(operation: Shuffle, context: Context) -> Rows:
    return whole(order.shuffle(execute(operation.input, context).table(), operation.seed, context.ranks))


@execute.register
def _(operation: Repartition, context: Context) -> Rows:
    ranks, by = context.ranks, operation.by
    rows = execute(operation.input, context)
    if by is None:
        return whole(order.repartition(rows.table(), ranks))
    if rows.in_place_by == by:
        return rows
    table = rows.table()
    return whole(order.by_key(table, by, ranks), by)


def _is_for_each_rank_alone(operation: Operation) -> bool:
    """Whether a rank may leave rows untaken: no other waits for it to make them."""
    return isinstance(operation, Scan) or (
        isinstance(operation, Filter | Project) and _is_for_each_rank_alone(operation.input)
    )


def _top(operation: Sort, num_rows: int, context: Context) -> pa.Table:
    """The first rows of a sort: each rank keeps its own first ones as they come, and these are sorted together."""
    by, descending, nulls_first = operation.by, operation.descending, operation.nulls_first
    rows = execute(operation.input, context)
    best = rows.schema.empty_table()
    for table in rows.batches():
        best = local_sort(concat([best, table], rows.schema), by, descending, nulls_first).slice(0, num_rows)
    return sort(best, by, descending, nulls_first, context.ranks)
