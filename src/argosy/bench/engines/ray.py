"""Ray Data: datasets in Ray's object store, and a result that stays there."""

from __future__ import annotations

import logging
from typing import Any

import pyarrow as pa
import ray  # type: ignore[import-not-found, unused-ignore]
import ray.data  # type: ignore[import-not-found, unused-ignore]

from argosy.bench.cases import Case

_BLOCKS_PER_CPU = 4


def open_engine(_name: str, num_threads: int) -> Ray:
    return Ray(num_threads)


class Ray:
    def __init__(self, num_cpus: int) -> None:
        ray.init(num_cpus=num_cpus, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        self._num_blocks = num_cpus * _BLOCKS_PER_CPU
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)

    def load(self, left: pa.Table, right: pa.Table | None) -> None:
        self._left = self._own(left)
        self._right = None if right is None else self._own(right)

    def run(self, case: Case) -> Any:
        if case.kind == "sort":
            query = self._left.sort("k")
        elif case.kind == "group_by":
            query = self._left.groupby("k", num_partitions=self._num_blocks).sum("a")
        else:
            how = "inner" if case.how == "inner" else "left_outer"
            query = self._left.join(self._right, join_type=how, num_partitions=self._num_blocks, on=("k",))
        return query.materialize()

    def to_arrow(self, result: Any) -> pa.Table:
        blocks = [block for block in ray.get(result.to_arrow_refs()) if block.num_columns]  # empty ones have none
        table = pa.concat_tables(blocks, promote_options="permissive")
        return table.rename_columns([name.removeprefix("sum(").removesuffix(")") for name in table.column_names])

    def free(self, result: Any) -> None:
        """Its memory goes with the last reference."""

    def close(self) -> None:
        ray.shutdown()

    def _own(self, table: pa.Table) -> Any:
        step = -(-table.num_rows // self._num_blocks)
        blocks = [table.slice(start, step).combine_chunks() for start in range(0, table.num_rows, step)]
        return ray.data.from_arrow(blocks).materialize()
