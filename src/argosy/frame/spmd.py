"""The same operators for whoever has a communicator: each rank passes its own table and gets its own.

    def clean(table, comm):
        return argosy.frame.sort(argosy.frame.unique(table, comm=comm), "time", comm=comm)

Every rank of the communicator calls the same function with the same arguments but for the tables, which have the same
schema everywhere; a rank may have no rows. Without `comm` they work on this process alone. They mean what the methods
of `argosy.DataFrame` mean, and are what these call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from argosy.frame.flat import without_views
from argosy.frame.plan import JoinAlgorithm, JoinHow, Resident

if TYPE_CHECKING:
    from argosy.frame.dataframe import DataFrame
    from argosy.frame.expressions.nodes import Expr


def join(
    left: pa.Table,
    right: pa.Table,
    on: str | Sequence[str] | None = None,
    *,
    left_on: str | Sequence[str] | None = None,
    right_on: str | Sequence[str] | None = None,
    how: JoinHow = "inner",
    suffix: str = "_right",
    algorithm: JoinAlgorithm = "auto",
    comm: Any = None,
) -> pa.Table:
    """Rows of both with equal keys. How many of them end up on which rank is open."""
    options = {"left_on": left_on, "right_on": right_on, "how": how, "suffix": suffix, "algorithm": algorithm}
    return _run(_frame(left).join(_frame(right), on, **options), comm)  # type: ignore[arg-type]


def sort(
    table: pa.Table,
    *by: str | Expr,
    descending: bool | Sequence[bool] = False,
    nulls_first: bool = False,
    comm: Any = None,
) -> pa.Table:
    """Rows in order over all ranks: those of rank 0 come first."""
    return _run(_frame(table).sort(*by, descending=descending, nulls_first=nulls_first), comm)


def group_by(table: pa.Table, *keys: str | Expr, comm: Any = None, **aggregates: Expr) -> pa.Table:
    """One row for each distinct key: `group_by(table, "g", total=col("v").sum(), comm=comm)`."""
    return _run(_frame(table).group_by(*keys).agg(**aggregates), comm)


def unique(table: pa.Table, *subset: str, comm: Any = None) -> pa.Table:
    """Distinct rows; with `subset`, the first of those that are equal in these columns."""
    return _run(_frame(table).unique(*subset), comm)


def union(left: pa.Table, right: pa.Table, *, comm: Any = None) -> pa.Table:
    """Distinct rows of both."""
    return _run(_frame(left).union(_frame(right)), comm)


def intersect(left: pa.Table, right: pa.Table, *, comm: Any = None) -> pa.Table:
    """Distinct rows that are in both."""
    return _run(_frame(left).intersect(_frame(right)), comm)


def difference(left: pa.Table, right: pa.Table, *, comm: Any = None) -> pa.Table:
    """Distinct rows of the left that are not in the right."""
    return _run(_frame(left).difference(_frame(right)), comm)


def concat(first: pa.Table, second: pa.Table, *, comm: Any = None) -> pa.Table:
    """All rows of the first, then all of the second, over all ranks."""
    return _run(_frame(first).concat(_frame(second)), comm)


def shuffle(table: pa.Table, seed: int, *, comm: Any = None) -> pa.Table:
    """All rows in random order over all ranks, the same for the same seed."""
    return _run(_frame(table).shuffle(seed), comm)


def sample(
    table: pa.Table, n: int | None = None, fraction: float | None = None, seed: int = 0, *, comm: Any = None
) -> pa.Table:
    """So many rows, or this share of them, drawn from all ranks."""
    return _run(_frame(table).sample(n, fraction, seed), comm)


def repartition(table: pa.Table, by: str | Sequence[str] | None = None, *, comm: Any = None) -> pa.Table:
    """Even shares in order; or, with `by`, rows with equal keys on one rank."""
    return _run(_frame(table).repartition(by), comm)


def _frame(table: pa.Table) -> DataFrame:
    from argosy.frame.dataframe import DataFrame

    if not isinstance(table, pa.Table):
        raise TypeError(f"this takes each rank's own pyarrow.Table, not {type(table).__qualname__}")
    plain = without_views(table.replace_schema_metadata(None))
    return DataFrame(Resident(future=plain, kept_schema=plain.schema, num_rows=plain.num_rows, nbytes=plain.nbytes))


def _run(frame: DataFrame, comm: Any) -> pa.Table:
    from argosy.frame.execute import execute
    from argosy.frame.run import context_of

    return execute(frame.plan, context_of(comm)).table()
