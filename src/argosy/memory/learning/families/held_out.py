"""Runs that nothing is taught on: for judging."""

from __future__ import annotations

import numpy as np

from argosy.memory.learning.families.family import Made, Passes, some_of


def nested_loops(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """Stages in a fixed order, each an inner loop of its own that goes around several times."""
    stages = [
        (
            [some_of(rng, objects, rng.uniform(0.1, 0.3)) for _ in range(rng.integers(1, 4))],
            int(rng.integers(3, 11)),
        )
        for _ in range(rng.integers(2, 5))
    ]
    rows: list[Passes] = []
    names: list[str] = []
    while len(rows) < windows:
        for stage, (inner, times) in enumerate(stages):
            rows += inner * times
            names += [f"stage {stage} operation {k}" for k in range(len(inner))] * times
    return np.array(rows[:windows]), names[:windows]


def shuffled_zipf(rng: np.random.Generator, windows: int, objects: int) -> Made:
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


def v_cycle(rng: np.random.Generator, windows: int, objects: int) -> Made:
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


def ping_pong(rng: np.random.Generator, windows: int, objects: int) -> Made:
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


def bait(rng: np.random.Generator, windows: int, objects: int) -> Made:
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
