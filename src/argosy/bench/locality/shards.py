"""How samples lie on the workers before the first epoch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
CONCENTRATION = 0.1
"""Of the Dirichlet distribution: most of a worker's samples are of one or two classes."""


def arrangement(labels: Ids, num_workers: int, kind: str, seed: int) -> Ids:
    """The sample in each slot; worker w has the w-th part of them, all of one size. A permutation of the samples."""
    if len(labels) % num_workers:
        raise ValueError(f"{len(labels)} samples do not divide evenly over {num_workers} workers")
    return SHARDS[kind](labels, num_workers, np.random.default_rng([seed, 1]))


def _random(labels: Ids, _num_workers: int, draw: np.random.Generator) -> Ids:
    return draw.permutation(len(labels))


def _sorted(labels: Ids, _num_workers: int, draw: np.random.Generator) -> Ids:
    """By class; the classes come in an order drawn anew for each seed, as worker 0 is not like the others: its running
    statistics are used."""
    place = draw.permutation(int(labels.max()) + 1)
    mixed = draw.permutation(len(labels))
    return mixed[np.argsort(place[labels[mixed]], kind="stable")]


def _dirichlet(labels: Ids, num_workers: int, draw: np.random.Generator) -> Ids:
    """Each worker draws its own shares of the classes, and takes samples by them as long as there are any; a class that
    has run out leaves its share to the others."""
    num_classes = int(labels.max()) + 1
    pools = [draw.permutation(np.flatnonzero(labels == number)) for number in range(num_classes)]
    left = np.array([len(pool) for pool in pools])
    shards: list[Ids] = []
    for shares in draw.dirichlet(np.full(num_classes, CONCENTRATION), size=num_workers):
        taken = _taken(shares, left, len(labels) // num_workers, draw)
        shards += [pool[rest - count : rest] for pool, rest, count in zip(pools, left, taken, strict=True)]
        left = left - taken
    return np.concatenate(shards)


def _taken(shares: NDArray[np.float64], left: Ids, size: int, draw: np.random.Generator) -> Ids:
    """How many samples of each class make up a shard of this size."""
    taken = np.zeros_like(left)
    while missing := size - int(taken.sum()):
        there = left > taken
        chances = shares * there
        if chances.sum() < 1e-12:
            chances = (left - taken).astype(np.float64)
        taken = np.minimum(taken + draw.multinomial(missing, chances / chances.sum()), left)
    return taken


SHARDS: dict[str, Callable[[Ids, int, np.random.Generator], Ids]] = {
    "random": _random,
    "sorted": _sorted,
    "dirichlet": _dirichlet,
}
