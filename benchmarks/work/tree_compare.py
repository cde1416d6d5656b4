"""A program as it is and decorated, and in JAX where that is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from figures import Figure, Options

import argosy
from work.tree_jax import peer
from work.tree_programs import Program, Sizes
from work.tree_turns import Seconds, in_turns, ratio

PLAIN, DECORATED, JAX = "NumPy", "decorated", "JAX"


def compare(name: str, program: Program, sizes: Sizes, rounds: int, *, jax: bool = True) -> Seconds:
    """In turns, bit for bit the same. The decorated function is the plain one, with `@argosy.futurize` and no more."""
    given = program.make(*sizes)
    decorated = argosy.futurize(program.run)
    sides = {PLAIN: lambda: program.run(*given), DECORATED: lambda: decorated(*given)}
    other = peer(name, given) if jax else None
    return in_turns(name, sides, rounds, {JAX: other} if other is not None else None)


def by_hand(what: str, jobs: Sequence[Callable[[], Any]], rounds: int) -> Figure:
    """Jobs that have nothing to do with one another, each on a thread: what this machine gives at best just now."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        sides = {
            PLAIN: lambda: [job() for job in jobs],
            "by hand": lambda: [future.result() for future in [pool.submit(job) for job in jobs]],
        }
        seconds = in_turns(what, sides, rounds)
    return Figure(what=f"{what}: {len(jobs)} at once by hand", value=ratio(seconds, PLAIN, "by hand"), unit="x")


def timed_sizes(program: Program, options: Options) -> tuple[Sizes, ...]:
    return (program.small,) if options.quick else program.large


def shape(sizes: Sizes) -> str:
    return " x ".join(f"{size:,}" for size in sizes)
