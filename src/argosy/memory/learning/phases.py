"""Runs whose phases change, made up from a seed: what a memory manager is taught on, and what it is judged on.

A family says which objects each window passes over, and how often; what that costs is the same for all families: sizes
and seconds per byte are heavy-tailed, a move costs about as much as touching the bytes once while they are slow. The
families of `TAUGHT` and of `HELD_OUT` have no generator in common. Everything here is modelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from argosy.memory.costs import Costs
from argosy.memory.moves import Moves

Passes = NDArray[np.float64]
"""[windows, objects]: how often each window passes over each object."""

Family = Callable[[np.random.Generator, int, int], tuple[Passes, list[str]]]
"""From a generator, a number of windows and a number of objects: the passes, and the name of each window."""

SLOW_SECONDS_PER_BYTE = 1 / 2e9


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One run under one capacity."""

    family: str
    seed: int
    costs: Costs
    """One window for each occurrence."""
    moves: Moves
    capacity: int


def case(family: str, seed: int, *, windows: int | None = None, objects: int | None = None) -> Case:
    """The case of this family and seed; the same one each time."""
    families = {**TAUGHT, **HELD_OUT}
    if family not in families:
        raise ValueError(f"there is no family {family!r}; there are: {', '.join(families)}")
    rng = np.random.default_rng([seed, sum(map(ord, family))])
    num_windows = int(rng.integers(100, 240)) if windows is None else windows
    num_objects = int(rng.integers(6, 21)) if objects is None else objects
    passes, names = families[family](rng, num_windows, num_objects)
    if rng.random() < 0.3:
        names = ["step"] * num_windows
    sizes = np.clip(rng.lognormal(np.log(64e6), 1.0, num_objects), 1e6, 2e9).astype(np.int64)
    if family == "v_cycle":
        sizes = np.sort(sizes)[::-1]
    dearness = rng.lognormal(0.0, 0.5, num_objects)
    touched = passes * sizes
    slow = touched * dearness * SLOW_SECONDS_PER_BYTE
    base = touched.sum(axis=1) * SLOW_SECONDS_PER_BYTE / rng.uniform(2.0, 10.0)
    base += rng.uniform(0.0, 0.3) * slow.sum(axis=1).mean()
    largest = int(sizes.max())
    capacity = max(int(rng.uniform(0.25, 0.75) * sizes.sum()), largest)
    return Case(
        family=family,
        seed=seed,
        costs=Costs(
            objects=tuple(f"object {i}" for i in range(num_objects)),
            sizes=tuple(int(size) for size in sizes),
            windows=tuple(names),
            order=tuple(range(num_windows)),
            floor=np.full(num_windows, -np.inf),
            base=base,
            slow=slow,
        ),
        moves=Moves(
            fetch_seconds_per_byte=SLOW_SECONDS_PER_BYTE * rng.uniform(0.5, 1.5),
            evict_seconds_per_byte=SLOW_SECONDS_PER_BYTE * rng.uniform(0.2, 1.5),
        ),
        capacity=capacity,
    )


def working_sets(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
    """A few working sets in random order, each for a random while; not every window touches all of its set."""
    sets = [_some(rng, objects, rng.uniform(0.15, 0.5)) for _ in range(rng.integers(3, 7))]
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


def drifting(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
    """What is hot wanders over the objects, a little in each window."""
    order = rng.permutation(objects)
    width = rng.uniform(0.08, 0.25) * objects
    centre = np.cumsum(rng.normal(rng.uniform(0.0, 0.15), 0.15, windows))[:, None]
    away = np.abs((order[None, :] - centre + objects / 2) % objects - objects / 2)
    passes = rng.uniform(1.0, 4.0) * np.exp(-0.5 * (away / width) ** 2)
    passes[passes < 0.1] = 0.0
    return passes * (rng.random(passes.shape) < rng.uniform(0.6, 1.0)), ["step"] * windows


def periodic(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
    """The same few operations over and over, as in a solver; half of the runs go over to another loop on the way."""
    change = int(rng.uniform(0.3, 0.7) * windows) if rng.random() < 0.5 else windows
    passes, names = np.zeros((windows, objects)), []
    for loop, (start, stop) in enumerate(((0, change), (change, windows))):
        kinds = [_some(rng, objects, rng.uniform(0.1, 0.35)) for _ in range(rng.integers(2, 11))]
        for at in range(start, stop):
            passes[at] = kinds[(at - start) % len(kinds)]
            names.append(f"loop {loop} operation {(at - start) % len(kinds)}")
    return passes, names


def bursts(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
    """A steady set, and now and then something else, heavily and briefly."""
    passes = np.tile(_some(rng, objects, rng.uniform(0.2, 0.5)), (windows, 1))
    passes *= rng.random((windows, objects)) < rng.uniform(0.5, 1.0)
    names = ["steady"] * windows
    often = rng.uniform(0.05, 0.25)
    for at in np.flatnonzero(rng.random(windows) < often):
        hit = rng.choice(objects, int(rng.integers(1, 3)), replace=False)
        length = int(rng.choice([1, 1, 2, 3, 8]))
        passes[at : at + length, hit] = rng.uniform(2.0, 6.0)
        names[at] = "burst"
    return passes, names


def sweeps(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
    """Around and around over the objects, a few at a time: the object used last is needed last again."""
    order, wide = rng.permutation(objects), int(rng.integers(1, 4))
    passes = np.zeros((windows, objects))
    stay = int(rng.integers(1, 5))
    for at in range(windows):
        passes[at, order[(at // stay + np.arange(wide)) % objects]] = rng.uniform(1.0, 3.0)
    hot = rng.random(objects) < 0.15
    passes[:, hot] += rng.uniform(0.5, 1.5)
    return passes, ["sweep"] * windows


def requests(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
    """Independent requests, some objects far more popular than others; now and then two of them change places."""
    popular = rng.permutation(rng.uniform(0.55, 0.9) ** np.arange(objects))
    passes, often, change = (np.zeros((windows, objects)), int(rng.integers(1, 6)), rng.uniform(0.0, 0.15))
    for at in range(windows):
        if rng.random() < change:
            pair = rng.choice(objects, 2, replace=False)
            popular[pair] = popular[pair[::-1]]
        passes[at] = rng.poisson(often * popular / popular.sum())
    return passes, ["request"] * windows


def trees(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
    """Down and up a tree of operations of three levels; how often the leaves repeat is drawn each time."""
    shares = {"top": (0.15, rng.integers(2, 4)), "middle": (0.2, rng.integers(2, 4)), "leaf": (0.1, rng.integers(1, 4))}
    kinds = {f"{level} {k}": _some(rng, objects, share) for level, (share, many) in shares.items() for k in range(many)}
    leaves = [name for name in kinds if name.startswith("leaf")]
    names: list[str] = []
    while len(names) < windows:
        for top in (name for name in kinds if name.startswith("top")):
            names.append(top)
            for middle in (name for name in kinds if name.startswith("middle")):
                names += [middle, *(leaves * int(rng.integers(1, 5)))]
    return np.array([kinds[name] for name in names[:windows]]), names[:windows]


def epochs(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
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


def long_phases(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
    """A few long phases that never come back, each with objects of its own, used by chance."""
    passes, names, at = np.zeros((windows, objects)), [], 0
    while at < windows:
        until = min(windows, at + int(rng.integers(30, 90)))
        drawn = rng.random((until - at, objects)) < rng.uniform(0.15, 0.8)
        passes[at:until] = _some(rng, objects, rng.uniform(0.2, 0.6)) * drawn
        names += [f"phase from {at}"] * (until - at)
        at = until
    return passes, names


def turns(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
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


def nested_loops(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
    """Stages in a fixed order, each an inner loop of its own that goes around several times."""
    stages = [
        ([_some(rng, objects, rng.uniform(0.1, 0.3)) for _ in range(rng.integers(1, 4))], int(rng.integers(3, 11)))
        for _ in range(rng.integers(2, 5))
    ]
    rows: list[NDArray[np.float64]] = []
    names: list[str] = []
    while len(rows) < windows:
        for stage, (inner, times) in enumerate(stages):
            rows += inner * times
            names += [f"stage {stage} operation {k}" for k in range(len(inner))] * times
    return np.array(rows[:windows]), names[:windows]


def shuffled_zipf(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
    """Requests by Zipf's law; who is popular is dealt anew from time to time."""
    weight = 1.0 / np.arange(1, objects + 1) ** rng.uniform(0.8, 1.6)
    passes, at = np.zeros((windows, objects)), 0
    requests = int(rng.integers(2, 8))
    while at < windows:
        popular = rng.permutation(weight / weight.sum())
        until = min(windows, at + int(rng.integers(15, 60)))
        passes[at:until] = rng.multinomial(requests, popular, until - at)
        at = until
    return passes, ["serve"] * windows


def v_cycle(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
    """Down the levels of a multigrid solver and up again; the finest level is the largest."""
    levels = int(rng.integers(2, min(6, objects) + 1))
    level = np.sort(rng.integers(0, levels, objects))
    walk = [*range(levels), *range(levels - 2, 0, -1)]
    sweeps_at = rng.integers(1, 4, levels)
    steps = [depth for depth in walk for _ in range(sweeps_at[depth])]
    passes, names = np.zeros((windows, objects)), []
    for at in range(windows):
        depth = steps[at % len(steps)]
        passes[at] = (level == depth) * 2.0 + (level == depth + 1) * 0.5
        names.append(f"level {depth}")
    return passes, names


def ping_pong(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
    """Two halves take turns, quickly for a while and then slowly."""
    first = rng.random(objects) < 0.5
    strength = rng.uniform(0.5, 3.0, objects)
    passes, names, at, side = np.zeros((windows, objects)), [], 0, True
    while at < windows:
        stay, turns = int(rng.choice([1, 2, 3, 8, 16])), int(rng.integers(2, 8))
        for _ in range(turns):
            until = min(windows, at + stay)
            passes[at:until] = np.where(first == side, strength, 0.0)
            names += ["ping" if side else "pong"] * (until - at)
            at, side = until, not side
    return passes, names


def bait(rng: np.random.Generator, windows: int, objects: int) -> tuple[Passes, list[str]]:
    """Against whoever trusts the last few windows: an object is hot for just so long, then not for the longest time."""
    passes = np.zeros((windows, objects))
    faithful = rng.random(objects) < 0.25
    passes[:, faithful] = rng.uniform(0.3, 1.0)
    waiting = list(rng.permutation(np.flatnonzero(~faithful)))
    at, stay = 0, int(rng.integers(1, 5))
    while at < windows and waiting:
        hit = waiting.pop(0)
        passes[at : at + stay, hit] = rng.uniform(1.5, 4.0)
        waiting.insert(len(waiting) - int(rng.integers(0, 1 + len(waiting) // 3)), hit)
        at += stay
    return passes, ["step"] * windows


def _some(rng: np.random.Generator, objects: int, share: float) -> NDArray[np.float64]:
    """A random set of objects, at least one, each with its number of passes."""
    chosen = rng.random(objects) < share
    chosen[rng.integers(objects)] = True
    return np.where(chosen, rng.uniform(0.5, 3.0, objects), 0.0)


TAUGHT: Mapping[str, Family] = {
    family.__name__: family
    for family in (working_sets, drifting, periodic, bursts, sweeps, requests, trees, epochs, long_phases, turns)
}
HELD_OUT: Mapping[str, Family] = {
    family.__name__: family for family in (nested_loops, shuffled_zipf, v_cycle, ping_pong, bait)
}
