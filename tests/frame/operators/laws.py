"""Every operation gives what the reference gives, on any number of ranks, in memory or through the disk.

With `ARGOSY_LAWS=10` in the environment, ten times as many examples are tried.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from frame import reference
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from argosy.comm.ranks import Ranks
from argosy.comm.threads import on_threads
from argosy.frame.context import Context
from argosy.frame.execute import execute
from argosy.frame.plan import Operation
from argosy.frame.rows import Rows

PLENTY = 1 << 30
TINY = 2 << 10
"""A share that a few dozen rows exceed."""
NUM_RANKS = st.sampled_from([1, 2, 3, 5])


def law(max_examples: int = 50) -> settings:
    """Kernels may compile inside of an example, and machines are slow at times: no deadline."""
    times = int(os.environ.get("ARGOSY_LAWS", "1"))
    return settings(max_examples=max_examples * times, deadline=None, suppress_health_check=list(HealthCheck))


def parts(
    plan: Operation | Callable[[int], Operation], num_ranks: int, share_nbytes: int = PLENTY, **wrap: Any
) -> list[pa.Table]:
    """Each rank's table of the result. Nothing is left in the folder for spilled rows.

    `plan` may depend on the rank; `around` wraps the ranks, to watch them.
    """
    around: Callable[[Ranks], Ranks] = wrap.pop("around", lambda ranks: ranks)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def run(ranks: Ranks) -> pa.Table:
            context = Context(ranks=around(ranks), share_nbytes=share_nbytes, folder=folder)
            mine = plan if isinstance(plan, Operation) else plan(ranks.rank)
            rows: Rows = execute(mine, context)
            return rows.table()

        tables = on_threads(num_ranks, run)
        assert list(folder.iterdir()) == []
    for table in tables:
        table.validate(full=True)
    return tables


def together(tables: list[pa.Table]) -> pa.Table:
    """All ranks' rows in order of rank. They have one schema."""
    assert all(table.schema.equals(tables[0].schema) for table in tables)
    if tables[0].num_columns == 0:
        return reference.with_rows(sum(table.num_rows for table in tables))
    return pa.concat_tables(tables)


def check(plan: Operation, num_ranks: int, in_order: bool = False, share_nbytes: int = PLENTY) -> pa.Table:
    """The plan's rows on so many ranks, after holding them against the reference."""
    result = together(parts(plan, num_ranks, share_nbytes))
    assert_same(result, reference.run(plan), in_order)
    return result


def assert_same(result: pa.Table, wanted: pa.Table, in_order: bool = False) -> None:
    """The same columns and rows, each as often; floats within rounding."""
    assert result.schema.names == wanted.schema.names
    assert result.schema.types == wanted.schema.types
    ours, theirs = reference.rows_of(result), reference.rows_of(wanted)
    assert len(ours) == len(theirs)
    if not in_order:
        ours, theirs = sorted(ours, key=_place), sorted(theirs, key=_place)
    for one, other in zip(ours, theirs, strict=True):
        assert all(map(_close, one, other)), f"{one} where {other} is right"


def _place(row: tuple[Any, ...]) -> str:
    """Rows that count as the same come to the same place, whatever the last digits of a float."""
    return repr([f"{value + 0.0:.6g}" if isinstance(value, float) else value for value in row])


def _close(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return all(map(_close, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other) and (isinstance(one, Decimal) == isinstance(other, Decimal))
