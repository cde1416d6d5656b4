"""Two chains written one after another run at the same time."""

from __future__ import annotations

from functools import partial

from figures import Figure, Options

from work.tree_chains import BY_HAND, CHAINS
from work.tree_compare import DECORATED, PLAIN, by_hand, compare, timed_sizes
from work.tree_turns import ratio, times

WANTED = 1.7


def chains(options: Options) -> list[Figure]:
    """Two independent chains, nothing annotated, each step on one core of NumPy's; and two threads by hand."""
    figures = []
    rounds = options.turns(9, 2)
    for name, program in CHAINS.items():
        for sizes in timed_sizes(program, options):
            seconds = compare(name, program, sizes, rounds, jax=False)
            figures += times(name, seconds)
            gain = ratio(seconds, PLAIN, DECORATED)
            figures.append(Figure(what=f"{name}: times as fast", value=gain, unit="x", at_least=WANTED))
            if name in BY_HAND:
                a, b, steps = program.make(*sizes)
                chain = BY_HAND[name]
                figures.append(by_hand(name, [partial(chain, a, steps), partial(chain, b, steps)], rounds))
    return figures
