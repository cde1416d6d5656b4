"""Runs of no program in particular: drawn from wide classes of what a program could do. For teaching.

A network that knows ten programs well knows them too well. These have few habits in common: how often an object comes
back, what follows what, how deep in the past the next object lies, and how loops nest are all drawn anew for each run.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from argosy.memory.learning.families.family import Made, some_of

LONGEST_PERIOD = 30.0
LONGEST_STAY = 15.0


def renewals(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """Each object comes back after a time of its own, by the clock or by chance; now and then some get another time."""
    passes, names = np.zeros((windows, objects)), []
    change, share = rng.choice([0.0, 1 / 60, 1 / 25]), rng.uniform(0.2, 1.0)
    by_clock = rng.random(objects) < rng.choice([0.0, 0.3, 1.0])
    period, heat = np.exp(rng.uniform(0.0, np.log(LONGEST_PERIOD), objects)), rng.uniform(0.5, 3.0, objects)
    due, epoch = rng.uniform(0, period), 0
    for at in range(windows):
        if rng.random() < change:
            anew = rng.random(objects) < share
            period = np.where(anew, np.exp(rng.uniform(0.0, np.log(LONGEST_PERIOD), objects)), period)
            heat = np.where(anew, rng.uniform(0.5, 3.0, objects), heat)
            epoch += 1
        now = np.where(by_clock, due <= at, rng.random(objects) < 1 / period)
        due = np.where(now, at + period, due)
        passes[at] = now * heat
        names.append(f"epoch {epoch}")
    return passes, ["step"] * windows if rng.random() < 0.5 else names


def chains(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """States with objects of their own follow one another by a random chain, for as long as each state's law says."""
    states = int(rng.integers(2, 9))
    sets = [some_of(rng, objects, rng.uniform(0.1, 0.5)) for _ in range(states)]
    follows = rng.dirichlet(np.full(states, rng.choice([0.1, 0.4, 2.0])), states)
    mean = np.exp(rng.uniform(0.0, np.log(LONGEST_STAY), states))
    is_fixed = rng.random(states) < rng.choice([0.0, 0.5, 1.0])
    seen = rng.uniform(0.5, 1.0) if rng.random() < 0.5 else 1.0
    passes, names, at, state = np.zeros((windows, objects)), [], 0, 0
    while at < windows:
        stay = round(mean[state]) if is_fixed[state] else int(rng.geometric(1 / mean[state]))
        until = min(windows, at + max(stay, 1))
        passes[at:until] = sets[state] * (rng.random((until - at, objects)) < seen)
        names += [f"state {state}"] * (until - at)
        at, state = until, int(rng.choice(states, p=follows[state]))
    return passes, names


def stack(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """Which object comes is drawn by how long ago it came last: the latest ones, the oldest ones, or some between."""
    deep = {"latest": 0.0, "oldest": objects - 1.0, "between": rng.uniform(0, objects)}
    centre = deep[str(rng.choice(list(deep)))]
    likely = np.exp(-np.abs(np.arange(objects) - centre) / (rng.uniform(0.08, 0.4) * objects)) + rng.uniform(0, 0.05)
    likely /= likely.sum()
    order, stay, at_once = list(rng.permutation(objects)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    passes, heat = np.zeros((windows, objects)), rng.uniform(0.8, 4.0, objects)
    always = rng.random(objects) < rng.choice([0.0, 0.2])
    for at in range(0, windows, stay):
        for _ in range(at_once):
            hit = order.pop(int(rng.choice(objects, p=likely)))
            order.insert(0, hit)
            passes[at : at + stay, hit] = heat[hit]
    passes[:, always] += rng.uniform(0.2, 1.0)
    return passes, ["step"] * windows


def programs(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """Loops in loops over a few operations, drawn at random; some go around as often as chance has it."""
    sets = {f"operation {k}": some_of(rng, objects, rng.uniform(0.08, 0.35)) for k in range(int(rng.integers(3, 13)))}
    program = _Block(rng, list(sets), depth=3)
    names: list[str] = []
    while len(names) < windows:
        names += islice(program.play(rng), windows)
    return np.array([sets[name] for name in names[:windows]]), names[:windows]


class _Block:
    """Parts one after another: operations, and blocks that go around several times."""

    def __init__(self, rng: np.random.Generator, operations: list[str], depth: int) -> None:
        self._parts: list[tuple[str | _Block, int, bool]] = []
        for _ in range(int(rng.integers(1, 4))):
            if depth and rng.random() < 0.6:
                inner = _Block(rng, operations, depth - 1)
                self._parts.append((inner, int(rng.integers(1, 8)), bool(rng.random() < 0.2)))
            else:
                self._parts.append((str(rng.choice(operations)), 1, False))

    def play(self, rng: np.random.Generator) -> Iterator[str]:
        for part, times, varies in self._parts:
            for _ in range(int(rng.integers(1, times + 1)) if varies else times):
                if isinstance(part, str):
                    yield part
                else:
                    yield from part.play(rng)
