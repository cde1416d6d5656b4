"""How many rows a plan has, where that is certain before it runs."""

from __future__ import annotations

from functools import singledispatch

from argosy.frame.plan import (
    Aggregate,
    Concat,
    Join,
    Memory,
    Operation,
    Project,
    Repartition,
    Resident,
    Sample,
    Scan,
    Shuffle,
    Slice,
    Sort,
)


@singledispatch
def known_rows(_: Operation) -> int | None:
    """The exact number of rows; None where only running the plan can tell."""
    return None


@known_rows.register
def _(operation: Memory) -> int | None:
    return int(operation.table.num_rows)


@known_rows.register(Resident)
def _(operation: Resident) -> int | None:
    return operation.num_rows


@known_rows.register
def _(operation: Scan) -> int | None:
    counts = [piece.num_rows for piece in operation.source.pieces]
    if operation.predicate is not None or None in counts:
        return None
    return sum(count for count in counts if count is not None)


@known_rows.register(Project)
@known_rows.register(Sort)
@known_rows.register(Shuffle)
@known_rows.register(Repartition)
def _(operation: Project | Sort | Shuffle | Repartition) -> int | None:
    return known_rows(operation.input)


@known_rows.register
def _(operation: Concat) -> int | None:
    first, second = known_rows(operation.first), known_rows(operation.second)
    return None if first is None or second is None else first + second


@known_rows.register
def _(operation: Join) -> int | None:
    left, right = known_rows(operation.left), known_rows(operation.right)
    return left * right if operation.how == "cross" and left is not None and right is not None else None


@known_rows.register
def _(operation: Aggregate) -> int | None:
    return None if operation.keys else 1


@known_rows.register
def _(operation: Slice) -> int | None:
    below = known_rows(operation.input)
    return None if below is None else sliced_rows(below, operation.offset, operation.length)


def sliced_rows(num_rows: int, offset: int, length: int | None) -> int:
    """How many of so many rows a slice keeps."""
    start = offset if offset >= 0 else num_rows + offset
    stop = num_rows if length is None else start + length
    return max(min(stop, num_rows) - max(start, 0), 0)


@known_rows.register
def _(operation: Sample) -> int | None:
    below = known_rows(operation.input)
    return None if below is None or operation.num_rows is None else min(below, operation.num_rows)
