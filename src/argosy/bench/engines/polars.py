"""Polars, with either of its engines. `POLARS_MAX_THREADS` must be set before it is imported."""

from __future__ import annotations

from typing import Any

import polars
import pyarrow as pa

from argosy.bench.cases import Case


def open_engine(name: str, num_threads: int) -> Polars:
    if polars.thread_pool_size() != num_threads:
        raise RuntimeError(f"Polars has {polars.thread_pool_size()} threads, not {num_threads}; set POLARS_MAX_THREADS")
    return Polars("streaming" if name == "polars-streaming" else "in-memory")


class Polars:
    def __init__(self, engine: str) -> None:
        self._engine = engine

    def load(self, left: pa.Table, right: pa.Table | None) -> None:
        self._left = _own(left)
        self._right = None if right is None else _own(right)

    def run(self, case: Case) -> Any:
        left = self._left.lazy()
        if case.kind == "sort":
            query = left.sort("k")
        elif case.kind == "group_by":
            query = left.group_by("k").agg(polars.col("a").sum())
        else:
            assert self._right is not None
            query = left.join(self._right.lazy(), on="k", how=case.how)
        return query.collect(engine=self._engine)

    def to_arrow(self, result: Any) -> pa.Table:
        return result.to_arrow()

    def free(self, result: Any) -> None:
        """Its memory goes with the last reference."""

    def close(self) -> None:
        """It has nothing but its memory."""


def _own(table: pa.Table) -> Any:
    return polars.DataFrame(table).rechunk()
