"""An SPMD function as a scientist writes it: a distributed sort of int64 rows, a matrix product, sums over all ranks.

Under bare MPI it is a script (`mpiexec -n 2 python work/sort.py --rows 1000000 --rounds 3`); on a pilot the same
function is a task.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

TILE = 512


def sort_rows(rows: int, rounds: int, comm: Any) -> float:
    """Make `rows` rows on each rank and sort them `rounds` times; the seconds it took, the longest of all ranks.

    Timed from a barrier at its entry to a barrier at its end.
    """
    comm.Barrier()
    begin = time.perf_counter()
    generator = np.random.default_rng(seed=comm.rank)
    keys = generator.integers(0, int(0.9 * rows * comm.size), size=rows)
    values = generator.integers(0, 1 << 40, size=rows)
    tile = generator.random((TILE, TILE))
    checksum = int(comm.allreduce(int(keys.sum())))
    for _ in range(rounds):
        top = int(comm.allreduce(int(keys.max()), op=_max()))
        target = keys * comm.size // (top + 1)
        order = np.argsort(target, kind="stable")
        counts = np.bincount(target, minlength=comm.size)
        mine, payload = _exchange(keys[order], counts, comm), _exchange(values[order], counts, comm)
        order = np.argsort(mine, kind="stable")
        mine, payload = mine[order], payload[order]
        tile = np.tanh(tile @ tile / TILE)
        for _ in range(20):
            comm.allreduce(float(tile[0, 0]))
    if int(comm.allreduce(int(mine.sum()))) != checksum or bool((np.diff(mine) < 0).any()) or len(payload) != len(mine):
        raise AssertionError("the sorted rows are not the rows that were there")
    comm.Barrier()
    seconds = time.perf_counter() - begin
    return float(comm.allreduce(seconds, op=_max()))


def _exchange(column: np.ndarray, counts: np.ndarray, comm: Any) -> np.ndarray:
    arriving = np.empty_like(counts)
    comm.Alltoall(counts, arriving)
    received = np.empty(int(arriving.sum()), column.dtype)
    comm.Alltoallv([column, counts], [received, arriving])
    return received


def _max() -> Any:
    from mpi4py import MPI

    return MPI.MAX


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="on each rank")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--times", type=int, default=3, help="timed runs after one that warms up")
    arguments = parser.parse_args()

    from mpi4py import MPI

    seconds = [sort_rows(arguments.rows, arguments.rounds, MPI.COMM_WORLD) for _ in range(1 + arguments.times)]
    if MPI.COMM_WORLD.rank == 0:
        sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
        from children import answer

        answer(seconds[1:])


if __name__ == "__main__":
    main()
