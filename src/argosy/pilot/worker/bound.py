"""A task on cores of its own: where its threads run, and how many of them its libraries start."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from argosy.pilot.worker.libraries import Pool, pools, usual_threads

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""Read by libraries that are loaded later, and by programs. Put back with all others."""


_PROCESSORS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
"""Those that this process may use: none of its tasks is at work when this is loaded."""


def processors(cores: Sequence[int]) -> list[int]:
    """The system's numbers of these cores. Where ranks share what there are fewer of, several cores are one."""
    return sorted({_PROCESSORS[core % len(_PROCESSORS)] for core in cores}) if _PROCESSORS else []


@contextmanager
def bound_to(cores: Sequence[int]) -> Iterator[None]:
    """Run on these cores, with one thread of each library on each."""
    usual = usual_threads()
    before = {name: pool.ask() for name, pool in pools().items()}
    with contextlib.ExitStack() as stack:
        if _PROCESSORS:
            stack.callback(_run_on, _PROCESSORS)
            _run_on(processors(cores))
        os.environ.update(dict.fromkeys(VARIABLES, str(len(cores))))
        if "numba" not in sys.modules:  # it would take the cores of this task for all that it may ever use
            os.environ.setdefault("NUMBA_NUM_THREADS", str(len(_PROCESSORS) or usual))
        stack.callback(_put_back, before, usual)
        for pool in pools().values():
            _set(pool, len(cores))
        yield


def _put_back(before: dict[str, int], usual: int) -> None:
    """A library that the task loaded gets what it would have taken by itself."""
    for name, pool in pools().items():
        _set(pool, before.get(name, usual))


def _set(pool: Pool, num_threads: int) -> None:
    pool.set(num_threads if pool.most is None else min(num_threads, pool.most))


def _run_on(cpus: Sequence[int]) -> None:
    """All threads of this process, those of libraries included: they have the cores of whoever started them."""
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(int(thread.name), cpus)
