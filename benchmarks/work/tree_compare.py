"""A program as it is and decorated, and in JAX where that is installed."""

from __future__ import annotations

from figures import Options

import argosy
from work.tree_jax import peer
from work.tree_programs import Program, Sizes
from work.tree_turns import Seconds, in_turns

PLAIN, DECORATED, JAX = "NumPy", "decorated", "JAX"


def compare(name: str, program: Program, sizes: Sizes, rounds: int, *, jax: bool = True) -> Seconds:
    """In turns, bit for bit the same. The decorated function is the plain one, with `@argosy.futurize` and no more."""
    given = program.make(*sizes)
    decorated = argosy.futurize(program.run)
    sides = {PLAIN: lambda: program.run(*given), DECORATED: lambda: decorated(*given)}
    other = peer(name, given) if jax else None
    return in_turns(name, sides, rounds, {JAX: other} if other is not None else None)


def timed_sizes(program: Program, options: Options) -> tuple[Sizes, ...]:
    return (program.small,) if options.quick else program.large


def shape(sizes: Sizes) -> str:
    return " x ".join(f"{size:,}" for size in sizes)
