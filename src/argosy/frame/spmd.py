"""The same operators for whoever has a communicator: each rank passes its own table and gets its own.

    def clean(table, comm):
        return argosy.frame.sort(argosy.frame.unique(table, comm=comm), "time", comm=comm)

Every rank of the communicator calls the same function with the same arguments but for the tables, which have the same
columns everywhere; a rank may have no rows. That is compared before anything moves: ranks that differ all raise
`RanksDiffer`, which names one of them, and so do the others when one rank fails. Without `comm` the operators work on
this process alone. They mean what the methods of `argosy.DataFrame` mean, and are what these call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from argosy import arguments
from argosy.frame.agree import Calling, Side, agree, common_schema, matched, together
from argosy.frame.arguments import require_distinct
from argosy.frame.layout import laid_out
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
    options: dict[str, Any] = {"left_on": left_on, "right_on": right_on, "how": how, "suffix": suffix}
    options |= {"on": on, "algorithm": algorithm}
    return _run("join", comm, (left, right), lambda one, other: one.join(other, **options), options)


def sort(
    table: pa.Table,
    *by: str | Expr,
    descending: bool | Sequence[bool] = False,
    nulls_first: bool = False,
    comm: Any = None,
) -> pa.Table:
    """Rows in order over all ranks: those of rank 0 come first."""
    options: dict[str, Any] = {"descending": descending, "nulls_first": nulls_first}
    return _run("sort", comm, (table,), lambda one: one.sort(*by, **options), {"by": by, **options})


def group_by(table: pa.Table, *keys: str | Expr, comm: Any = None, **aggregates: Expr) -> pa.Table:
    """One row for each distinct key: `group_by(table, "g", total=col("v").sum(), comm=comm)`."""
    options = {"keys": keys, "aggregates": aggregates}
    return _run("group_by", comm, (table,), lambda one: one.group_by(*keys).agg(**aggregates), options)


def unique(table: pa.Table, *subset: str, comm: Any = None) -> pa.Table:
    """Distinct rows; with `subset`, the first of those that are equal in these columns."""
    return _run("unique", comm, (table,), lambda one: one.unique(*subset), {"subset": subset})


def union(left: pa.Table, right: pa.Table, *, comm: Any = None) -> pa.Table:
    """Distinct rows of both."""
    return _run("union", comm, (left, right), lambda one, other: one.union(other), {})


def intersect(left: pa.Table, right: pa.Table, *, comm: Any = None) -> pa.Table:
    """Distinct rows that are in both."""
    return _run("intersect", comm, (left, right), lambda one, other: one.intersect(other), {})


def difference(left: pa.Table, right: pa.Table, *, comm: Any = None) -> pa.Table:
    """Distinct rows of the left that are not in the right."""
    return _run("difference", comm, (left, right), lambda one, other: one.difference(other), {})


def concat(first: pa.Table, second: pa.Table, *, comm: Any = None) -> pa.Table:
    """All rows of the first, then all of the second, over all ranks."""
    return _run("concat", comm, (first, second), lambda one, other: one.concat(other), {})


def shuffle(table: pa.Table, seed: int, *, comm: Any = None) -> pa.Table:
    """All rows in random order over all ranks, the same for the same seed."""
    return _run("shuffle", comm, (table,), lambda one: one.shuffle(seed), {"seed": seed})


def sample(
    table: pa.Table, n: int | None = None, fraction: float | None = None, seed: int = 0, *, comm: Any = None
) -> pa.Table:
    """So many rows, or this share of them, drawn from all ranks."""
    options = {"n": n, "fraction": fraction, "seed": seed}
    return _run("sample", comm, (table,), lambda one: one.sample(n, fraction, seed), options)


def repartition(table: pa.Table, by: str | Sequence[str] | None = None, *, comm: Any = None) -> pa.Table:
    """Even shares in order; or, with `by`, rows with equal keys on one rank."""
    return _run("repartition", comm, (table,), lambda one: one.repartition(by), {"by": by})


def _run(
    operator: str, comm: Any, tables: tuple[pa.Table, ...], make: Callable[..., DataFrame], options: dict[str, Any]
) -> pa.Table:
    """What `make` does with the frames of all ranks' tables; this rank's rows of that."""
    from argosy.frame.execute import execute
    from argosy.frame.run import context_of

    with together(comm) as told:
        own = [_plain(operator, table) for table in tables]
        said = tuple((name, _said(operator, name, one)) for name, one in options.items())
        mine = Calling(operator, said, tuple(map(_side, own)))
        everybody = agree(told, mine)
        frames = [
            _frame(operator, table, [calling.sides[index] for calling in everybody]) for index, table in enumerate(own)
        ]
        return execute(make(*frames).plan, context_of(told)).table()


def _said(operator: str, name: str, option: Any) -> str:
    """By which ranks compare it."""
    try:
        return repr(option)
    except Exception:  # of a value's own __repr__
        raise TypeError(f"{operator}(): {name} cannot be {arguments.show(option)}, which cannot be shown") from None


def _plain(operator: str, table: pa.Table) -> pa.Table:
    if not isinstance(table, pa.Table):
        raise TypeError(f"{operator}() takes each rank's own pyarrow.Table, not {type(table).__qualname__}")
    require_distinct(operator, table.schema.names)
    return laid_out(table.replace_schema_metadata(None))


def _side(table: pa.Table) -> Side:
    return Side(tuple(zip(table.schema.names, table.schema.types, strict=True)), table.num_rows, table.nbytes)


def _frame(operator: str, table: pa.Table, sides: Sequence[Side]) -> DataFrame:
    """The frame of all ranks' tables."""
    from argosy.frame.dataframe import DataFrame

    schema = common_schema(operator, sides)
    num_rows, nbytes = sum(side.num_rows for side in sides), sum(side.nbytes for side in sides)
    return DataFrame(Resident(future=matched(table, schema), kept_schema=schema, num_rows=num_rows, nbytes=nbytes))
