"""Five small programs to try placements on: `load("cg")` and so on, as workloads.

Each has 8 to 24 objects that differ in size and in what a byte of them costs: some are read in every window, some once
a run, some are written. They run on the processor, in one thread, and each run does the same work and returns the same
numbers, bit for bit, wherever its objects are.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

from argosy import arguments
from argosy.units import parse_nbytes

if TYPE_CHECKING:
    from argosy.memory.workload import Workload

APPS: tuple[str, ...] = ("cg", "spmv", "kmeans", "hydro", "hashjoin")


def _footprint(given: str | int) -> int:
    return arguments.whole("nbytes", parse_nbytes(given, "nbytes", least=1), most=2**50)


def load(name: str, nbytes: str | int | None = None, iterations: int | None = None) -> Workload:
    """One of `APPS`. `nbytes` is the footprint of all its objects together, by default one that suits this machine.

    A footprint below the app's smallest problem (under half a MiB) is rounded up to it.
    """
    if arguments.text("name", name) not in APPS:
        near = get_close_matches(name[:1000], APPS, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"there is no mini-app {arguments.show(name)}; {hint}there are {', '.join(APPS)}")
    asked = None if nbytes is None else _footprint(nbytes)
    if iterations is not None:
        iterations = arguments.whole("iterations", iterations, least=1)
    app = import_module(f"{__name__}.{name}")
    if asked is None:
        from argosy.memory.miniapps.sized import nbytes_here

        asked = nbytes_here()
    workload: Workload = app.make(asked, app.ITERATIONS if iterations is None else iterations)
    return workload
