"""The published benchmark of Radical-Cylon, as one task of the pilot on all of its ranks.

Each rank draws two columns of whole numbers below 0.9 x the rows of all ranks, with its rank as the seed; the join or
the sort goes by column 0. Times are from barrier to barrier, meaned over ranks. One iteration before those that count
touches the memory for the first time, which on virtual machines takes several times as long as the work; it is told
beside the others.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from statistics import mean, median
from typing import Any, Literal

import numpy as np
import pyarrow as pa

import argosy
from argosy.bench.data import UNIQUE

Operation = Literal["join", "sort"]
Scaling = Literal["weak", "strong"]
OPERATIONS: tuple[Operation, ...] = ("join", "sort")
PUBLISHED_RATE = (1.4e6, 1.9e6)
"""Rows per second and rank of Radical-Cylon: 35 M rows a rank in 18.9 to 25 s, on Rivanna and Summit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CylonResult:
    operation: Operation
    scaling: Scaling
    num_ranks: int
    rows_per_rank: int
    """Of each table."""
    max_val: int
    """Values are drawn below 0.9 x this: the rows of all ranks, as in their scripts."""
    num_result_rows: int
    first_seconds: float
    """Of the iteration before those that count."""
    seconds: tuple[float, ...]
    """Of each iteration that counts, the mean over ranks."""

    @property
    def mean_seconds(self) -> float:
        return mean(self.seconds)

    @property
    def rate(self) -> float:
        """Rows per second and rank: those of one table, as the published figures count them."""
        return self.rows_per_rank / self.mean_seconds

    def as_dict(self) -> dict[str, Any]:
        figures = {"mean_seconds": self.mean_seconds, "median_seconds": median(self.seconds), "rate": self.rate}
        return {**asdict(self), **figures, "published_rate": PUBLISHED_RATE}


def run_cylon(
    operation: Operation, scaling: Scaling, num_rows: int, num_ranks: int, num_iterations: int = 10
) -> CylonResult:
    """`num_rows` are those of each rank when weak, of all ranks together when strong. Starts a pilot of its own."""
    from argosy.frame.prepare import prepare

    rows_per_rank = num_rows if scaling == "weak" else num_rows // num_ranks
    max_val = num_rows * num_ranks if scaling == "weak" else num_rows
    prepare()
    with argosy.Pilot(ranks=num_ranks, name="bench cylon") as pilot:
        task = pilot.submit(_iterate, operation, rows_per_rank, max_val, num_iterations, ranks=num_ranks)
        seconds, num_result_rows = task.result()
    return CylonResult(
        operation=operation,
        scaling=scaling,
        num_ranks=num_ranks,
        rows_per_rank=rows_per_rank,
        max_val=max_val,
        num_result_rows=num_result_rows,
        first_seconds=seconds[0],
        seconds=tuple(seconds[1:]),
    )


def _iterate(
    operation: Operation, rows_per_rank: int, max_val: int, num_iterations: int, comm: Any
) -> tuple[list[float], int]:
    """On every rank: the mean seconds of each iteration, one more before them, and the rows of the whole result."""
    few = _draw(np.random.default_rng(0), 1000, 1000)
    _once(operation, few, few, comm)  # loads the kernels
    rng = np.random.default_rng(seed=comm.rank)
    left = _draw(rng, rows_per_rank, max_val)
    right = _draw(rng, rows_per_rank, max_val) if operation == "join" else left
    seconds = []
    num_result_rows = 0
    for _ in range(1 + num_iterations):
        comm.barrier()
        began = time.perf_counter()
        result = _once(operation, left, right, comm)
        comm.barrier()
        taken = time.perf_counter() - began
        seconds.append(comm.allreduce(taken) / comm.size)
        num_result_rows = comm.allreduce(result.num_rows)
        del result
    return seconds, num_result_rows


def _once(operation: Operation, left: pa.Table, right: pa.Table, comm: Any) -> pa.Table:
    if operation == "sort":
        return argosy.frame.sort(left, "0", comm=comm)
    return argosy.frame.join(left, right, on="0", comm=comm)


def _draw(rng: np.random.Generator, num_rows: int, max_val: int) -> pa.Table:
    values = rng.integers(0, int(UNIQUE * max_val), size=(num_rows, 2))
    return pa.table({str(column): np.ascontiguousarray(values[:, column]) for column in range(2)})
