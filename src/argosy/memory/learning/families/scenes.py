"""Runs of programs that one knows: solvers, servers, training, phases. For teaching."""

from __future__ import annotations

import numpy as np

from argosy.memory.learning.families.family import Made, some_of


def working_sets(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """A few working sets in random order, each for a random while; not every window touches all of its set."""
    sets = [some_of(rng, objects, rng.uniform(0.15, 0.5)) for _ in range(rng.integers(3, 7))]
    seen = rng.uniform(0.6, 1.0)
    passes, names, at = np.zeros((windows, objects)), [], 0
    which = 0
    while at < windows:
        which = (which + int(rng.integers(1, len(sets)))) % len(sets)
        until = min(windows, at + int(rng.integers(4, 30)))
        passes[at:until] = sets[which] * (rng.random((until - at, objects)) < seen)
        names += [f"set {which}"] * (until - at)
        at = until
    return passes, names


def drifting(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """What is hot wanders over the objects, a little in each window."""
    order = rng.permutation(objects)
    width = rng.uniform(0.08, 0.25) * objects
    centre = np.cumsum(rng.normal(rng.uniform(0.0, 0.15), 0.15, windows))[:, None]
    away = np.abs((order[None, :] - centre + objects / 2) % objects - objects / 2)
    passes = rng.uniform(1.0, 4.0) * np.exp(-0.5 * (away / width) ** 2)
    passes[passes < 0.1] = 0.0
    return passes * (rng.random(passes.shape) < rng.uniform(0.6, 1.0)), ["step"] * windows


def periodic(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """The same few operations over and over, as in a solver; half of the runs go over to another loop on the way."""
    change = int(rng.uniform(0.3, 0.7) * windows) if rng.random() < 0.5 else windows
    passes, names = np.zeros((windows, objects)), []
    for loop, (start, stop) in enumerate(((0, change), (change, windows))):
        kinds = [some_of(rng, objects, rng.uniform(0.1, 0.35)) for _ in range(rng.integers(2, 11))]
        for at in range(start, stop):
            passes[at] = kinds[(at - start) % len(kinds)]
            names.append(f"loop {loop} operation {(at - start) % len(kinds)}")
    return passes, names


def bursts(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """A steady set, and now and then something else, heavily and briefly."""
    passes = np.tile(some_of(rng, objects, rng.uniform(0.2, 0.5)), (windows, 1))
    passes *= rng.random((windows, objects)) < rng.uniform(0.5, 1.0)
    names = ["steady"] * windows
    often = rng.uniform(0.05, 0.25)
    for at in np.flatnonzero(rng.random(windows) < often):
        hit = rng.choice(objects, int(rng.integers(1, 3)), replace=False)
        length = int(rng.choice([1, 1, 2, 3, 8]))
        passes[at : at + length, hit] = rng.uniform(2.0, 6.0)
        names[at] = "burst"
    return passes, names


def sweeps(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """Around and around over the objects, a few at a time: the object used last is needed last again."""
    order, wide = rng.permutation(objects), int(rng.integers(1, 4))
    passes = np.zeros((windows, objects))
    stay = int(rng.integers(1, 5))
    for at in range(windows):
        passes[at, order[(at // stay + np.arange(wide)) % objects]] = rng.uniform(1.0, 3.0)
    hot = rng.random(objects) < 0.15
    passes[:, hot] += rng.uniform(0.5, 1.5)
    return passes, ["sweep"] * windows


def requests(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """Independent requests, some objects far more popular than others; now and then two of them change places."""
    popular = rng.permutation(rng.uniform(0.55, 0.9) ** np.arange(objects))
    passes, often, change = (np.zeros((windows, objects)), int(rng.integers(1, 6)), rng.uniform(0.0, 0.15))
    for at in range(windows):
        if rng.random() < change:
            pair = rng.choice(objects, 2, replace=False)
            popular[pair] = popular[pair[::-1]]
        passes[at] = rng.poisson(often * popular / popular.sum())
    return passes, ["request"] * windows


def trees(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """Down and up a tree of operations of three levels; how often the leaves repeat is drawn each time."""
    shares = {"top": (0.15, rng.integers(2, 4)), "middle": (0.2, rng.integers(2, 4)), "leaf": (0.1, rng.integers(1, 4))}
    kinds = {
        f"{level} {k}": some_of(rng, objects, share) for level, (share, many) in shares.items() for k in range(many)
    }
    leaves = [name for name in kinds if name.startswith("leaf")]
    names: list[str] = []
    while len(names) < windows:
        for top in (name for name in kinds if name.startswith("top")):
            names.append(top)
            for middle in (name for name in kinds if name.startswith("middle")):
                names += [middle, *(leaves * int(rng.integers(1, 5)))]
    return np.array([kinds[name] for name in names[:windows]]), names[:windows]


def epochs(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """Each object once in an epoch, in an order that is dealt anew each time; some are used in every window, too."""
    passes, stay, heat = (np.zeros((windows, objects)), int(rng.integers(1, 4)), rng.uniform(1.0, 4.0, objects))
    always = rng.random(objects) < 0.2
    left: list[np.int64] = []
    for at in range(0, windows, stay):
        left = left or list(rng.permutation(objects))
        passes[at : at + stay, left.pop()] = 1.0
    passes *= heat
    passes[:, always] += rng.uniform(0.2, 1.0)
    return passes, ["batch"] * windows


def long_phases(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """A few long phases that never come back, each with objects of its own, used by chance."""
    passes, names, at = np.zeros((windows, objects)), [], 0
    while at < windows:
        until = min(windows, at + int(rng.integers(30, 90)))
        drawn = rng.random((until - at, objects)) < rng.uniform(0.15, 0.8)
        passes[at:until] = some_of(rng, objects, rng.uniform(0.2, 0.6)) * drawn
        names += [f"phase from {at}"] * (until - at)
        at = until
    return passes, names


def turns(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """Three groups take turns, mostly in one order, for as long as chance has it, longer at times than at others."""
    group, strength = rng.integers(0, 3, objects), rng.uniform(0.5, 2.5, objects)
    passes, names, at, turn, mean = (np.zeros((windows, objects)), [], 0, 0, int(rng.choice([2, 4, 10])))
    while at < windows:
        if rng.random() < 0.1:
            mean = int(rng.choice([2, 4, 10]))
        until = min(windows, at + 1 + int(rng.geometric(1 / mean)))
        passes[at:until] = np.where(group == turn, strength, 0.0)
        names += [f"turn {turn}"] * (until - at)
        at, turn = until, (turn + (1 if rng.random() < 0.8 else 2)) % 3
    return passes, names
