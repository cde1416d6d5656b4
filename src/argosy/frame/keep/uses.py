"""Which columns of the persisted frames on this rank a plan reads."""

from __future__ import annotations

from argosy.frame.expressions.columns import columns_of
from argosy.frame.keep.held import Held
from argosy.frame.plan import Operation, Project, Resident


def columns_read(plan: Operation) -> dict[Held, frozenset[str]]:
    """Each column once, however often the plan comes back to it: its pages are read from disk once in an operation.

    The plan is a rewritten one: it projects whatever it does not need of all columns.
    """
    read: dict[Held, frozenset[str]] = {}
    seen: set[int] = set()
    waiting: list[tuple[Operation, Operation | None]] = [(plan, None)]
    while waiting:
        operation, above = waiting.pop()
        if isinstance(operation, Resident):
            if isinstance(operation.future, Held):
                held = operation.future
                read[held] = read.get(held, frozenset()) | _read_by(above, held)
        elif id(operation) not in seen:
            seen.add(id(operation))
            waiting += [(below, operation) for below in operation.inputs]
    return read


def _read_by(above: Operation | None, held: Held) -> frozenset[str]:
    if isinstance(above, Project):
        return frozenset().union(*(columns_of(expr) for _, expr in above.columns))
    return frozenset(held.columns)
