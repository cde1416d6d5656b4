"""A rank that fails, or differs, in the middle of a program: the others end with an error that names it.

    mpiexec -n N python leaving.py

Nobody calls Abort: the program ends because every rank gets an error of its own.
"""

from __future__ import annotations

import pyarrow as pa
from mpi4py import MPI

import argosy
from argosy import col
from argosy.errors import RanksDiffer

comm = MPI.COMM_WORLD
last = comm.size - 1


def raised(work: object) -> str:
    try:
        work()  # type: ignore[operator]
    except Exception as error:
        return f"{type(error).__name__} {getattr(error, 'rank', '')}".strip()
    return "nothing"


def differs() -> None:
    argosy.frame.sort(pa.table({"a": [1], "b": [2]}), "b" if comm.rank == last else "a", comm=comm)


def fails_before() -> None:
    with argosy.frame.together(comm):
        if comm.rank == last:
            raise KeyError("lost")
        argosy.frame.sort(pa.table({"a": [1]}), "a", comm=comm)


def fails_within() -> None:
    value = 2**63 - 1 if comm.rank == last else 1
    argosy.frame.sort(pa.table({"a": [value]}), col("a") + 1, comm=comm)


assert issubclass(RanksDiffer, argosy.errors.FrameError)
found = [comm.gather(raised(work)) for work in (differs, fails_before, fails_within)]
ordered = argosy.frame.sort(pa.table({"a": [comm.size - comm.rank]}), "a", comm=comm).column("a").to_pylist()
print(comm.rank, ordered, flush=True)
if comm.rank == 0:
    others = [f"RanksDiffer {last}"] * last
    assert found == [[*others, f"RanksDiffer {last}"], [*others, "KeyError"], [*others, "FrameError"]], found
    print("all ranks got an error, and went on", flush=True)
