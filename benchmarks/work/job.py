"""One job of the mix: so many seconds of work on each of its ranks, then all of them agree that they are done.

`sleep` waits, as if each rank had a core of its own; `cpu` computes for as long as one undisturbed core would need.
Under bare MPI it is a script (`mpiexec -n 2 python work/job.py sleep 3`); on a pilot the same function is a task.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

TILE = 192
"""Of a matrix product that stays in cache."""


def job(kind: str, amount: float, comm: Any) -> int:
    """The number of ranks that did it. `amount` is seconds to sleep, or steps to compute."""
    if kind == "sleep":
        time.sleep(amount)
    else:
        compute(int(amount))
    return int(comm.allreduce(1))


def compute(steps: int) -> float:
    tile = np.full((TILE, TILE), 0.5)
    for _ in range(steps):
        tile = np.tanh(tile @ tile / TILE)
    return float(tile[0, 0])


def steps_per_second() -> float:
    """On a core of this machine as it is now: the best of many short tries."""
    steps = 50
    best = 0.0
    for _ in range(40):
        begin = time.perf_counter()
        compute(steps)
        best = max(best, steps / (time.perf_counter() - begin))
    return best


def main(words: list[str]) -> None:
    if words == ["speed"]:
        from children import answer

        answer(steps_per_second())
    else:
        from mpi4py import MPI

        job(words[0], float(words[1]), MPI.COMM_WORLD)


if __name__ == "__main__":
    main(sys.argv[1:])
