"""Dask: frames on the workers of a local cluster, one thread each, and a result that stays there."""

from __future__ import annotations

from typing import Any

import dask  # type: ignore[import-not-found, unused-ignore]
import dask.dataframe  # type: ignore[import-not-found, unused-ignore]
import pyarrow as pa
from distributed import Client, LocalCluster, wait  # type: ignore[import-not-found, unused-ignore]

from argosy.bench.cases import Case

_PARTITIONS_PER_WORKER = 4


def open_engine(_name: str, num_threads: int) -> Dask:
    return Dask(num_threads)


class Dask:
    def __init__(self, num_workers: int) -> None:
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "100GB"})
        self._num_parts = num_workers * _PARTITIONS_PER_WORKER
        self._cluster = LocalCluster(
            n_workers=num_workers, threads_per_worker=1, dashboard_address=None, memory_limit=0, silence_logs=40
        )
        self._client = Client(self._cluster)

    def load(self, left: pa.Table, right: pa.Table | None) -> None:
        self._left = self._own(left)
        self._right = None if right is None else self._own(right)

    def run(self, case: Case) -> Any:
        if case.kind == "sort":
            query = self._left.sort_values("k")
        elif case.kind == "group_by":
            query = self._left.groupby("k").agg({"a": "sum"}, split_out=self._num_parts).reset_index()
        else:
            assert self._right is not None
            right = self._right.dropna(subset=["k"]) if case.null_share else self._right  # null would match null
            query = self._left.merge(right, on="k", how=case.how)
        return self._kept(query)

    def to_arrow(self, result: Any) -> pa.Table:
        return pa.Table.from_pandas(result.compute(), preserve_index=False)

    def free(self, result: Any) -> None:
        """Its memory goes with the last reference."""

    def close(self) -> None:
        self._client.close()
        self._cluster.close()

    def _own(self, table: pa.Table) -> Any:
        frame = table.to_pandas(types_mapper={pa.int64(): _nullable()}.get if table["k"].null_count else None)
        return self._kept(dask.dataframe.from_pandas(frame, npartitions=self._num_parts, sort=False))

    def _kept(self, query: Any) -> Any:
        frame = query.persist()
        wait(frame)
        return frame


def _nullable() -> Any:
    import pandas

    return pandas.Int64Dtype()
