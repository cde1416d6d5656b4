"""Two chains written one after another run at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from figures import Figure, Options

from work.tree_chains import BY_HAND, CHAINS
from work.tree_compare import DECORATED, PLAIN, compare, timed_sizes
from work.tree_turns import in_turns, ratio, times

WANTED = 1.7


def chains(options: Options) -> list[Figure]:
    """Two independent chains, nothing annotated, each step on one core of NumPy's; and two threads by hand."""
    figures = []
    for name, program in CHAINS.items():
        for sizes in timed_sizes(program, options):
            seconds = compare(name, program, sizes, options.turns(9, 2), jax=False)
            figures += times(name, seconds)
            gain = ratio(seconds, PLAIN, DECORATED)
            figures.append(Figure(what=f"{name}: times as fast", value=gain, unit="x", at_least=WANTED))
    return figures + _by_hand(options)


def _by_hand(options: Options) -> list[Figure]:
    """What this machine gives to two threads now."""
    figures = []
    with ThreadPoolExecutor(2) as pool:
        for name, half in BY_HAND.items():
            program = CHAINS[name]
            a, b, steps = program.make(*timed_sizes(program, options)[0])
            work = half, [a, b], [steps, steps]
            sides = {PLAIN: partial(_listed, map, *work), "by hand": partial(_listed, pool.map, *work)}
            seconds = in_turns(name, sides, options.turns(9, 2))
            gain = ratio(seconds, PLAIN, "by hand")
            figures.append(Figure(what=f"{name}: by hand on two threads", value=gain, unit="x"))
    return figures


def _listed(mapping: Callable[..., Iterable[Any]], *work: Any) -> list[Any]:
    return list(mapping(*work))
