"""Plans over MPI, held to the reference.

    mpiexec -n N python compare.py FIRST_SEED NUM_PLANS CHUNK_NBYTES TWO_LEVELS_FROM

Every rank does its part of each plan; rank 0 compares. The first failure ends all ranks.
"""

from __future__ import annotations

import sys
import tempfile
import traceback
from pathlib import Path

import pyarrow as pa
from frame import reference
from frame.operators.laws import PLENTY, assert_same, together
from mpi.plans import IN_ORDER, random_plan
from mpi4py import MPI

from argosy.comm import over_mpi
from argosy.comm.ranks import Ranks
from argosy.frame.context import Context
from argosy.frame.execute import execute

_LITTLE = 4 << 10
"""A share with which most plans go through the disk, in a few rounds."""


def check(seed: int, ranks: Ranks, folder: Path) -> None:
    plan = random_plan(seed)
    share_nbytes = PLENTY if seed % 2 else _LITTLE
    table = execute(plan, Context(ranks=ranks, share_nbytes=share_nbytes, folder=folder)).table()
    tables: list[pa.Table] = ranks.allgather(table)
    if ranks.rank == 0:
        assert_same(together(tables), reference.run(plan), in_order=isinstance(plan, IN_ORDER))


def main() -> None:
    first, num_plans, chunk_nbytes, two_levels_from = map(int, sys.argv[1:])
    over_mpi._CHUNK_NBYTES = chunk_nbytes
    over_mpi.TWO_LEVELS_FROM = two_levels_from
    ranks = over_mpi.ranks_over(MPI.COMM_WORLD)
    seed = first
    try:
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(first, first + num_plans):
                check(seed, ranks, Path(folder))
    except BaseException:
        print(
            f"seed {seed} on rank {ranks.rank} of {ranks.size}\n{traceback.format_exc()}", file=sys.stderr, flush=True
        )
        MPI.COMM_WORLD.Abort(1)
    if ranks.rank == 0:
        print(f"{num_plans} plans agree on {ranks.size} ranks")


if __name__ == "__main__":
    main()
