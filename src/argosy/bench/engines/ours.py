"""Argosy: frames that lie on the ranks of a pilot, and a result that stays there."""

from __future__ import annotations

import pyarrow as pa

import argosy
from argosy import DataFrame, col
from argosy.bench.cases import Case


def open_engine(_name: str, num_threads: int) -> Argosy:
    return Argosy(num_threads)


class Argosy:
    def __init__(self, num_ranks: int) -> None:
        self._num_ranks = num_ranks
        self._pilot = argosy.Pilot(ranks=num_ranks, name="bench")
        self._left: DataFrame | None = None
        self._right: DataFrame | None = None

    def load(self, left: pa.Table, right: pa.Table | None) -> None:
        self._left = argosy.from_arrow(left).persist()
        self._right = None if right is None else argosy.from_arrow(right).persist()

    def run(self, case: Case) -> DataFrame:
        assert self._left is not None
        if case.kind == "sort":
            return self._left.sort("k").persist()
        if case.kind == "group_by":
            return self._left.group_by("k").agg(a=col("a").sum()).persist()
        assert self._right is not None
        return self._left.join(self._right, on="k", how=case.how).persist()

    def to_arrow(self, result: DataFrame) -> pa.Table:
        return result.collect()

    def free(self, result: DataFrame) -> None:
        result.__argosy_future__().release()
        self._pilot.submit(_nothing, ranks=self._num_ranks).result()  # after which all ranks have freed it

    def close(self) -> None:
        self._left = self._right = None
        self._pilot.close()


def _nothing() -> None:
    """What a rank does once it has done what it was told before."""
