"""Lloyd's k-means over weighted points in three shards, from coarse features to all of them.

The features of a point lie in three arrays: `old.coarse`, `old.fine`, `old.detail` and so on. The first iteration looks
at the coarse ones only, the second also at the fine ones, the third and later ones at all, so that early iterations are
cheap; what a byte costs differs by group. Labels and distances are written in every iteration, and are small.
"""

from __future__ import annotations

import numpy as np

from argosy.memory.miniapps.compiled import Array, compiled
from argosy.memory.store import Store
from argosy.memory.workload import Workload

ITERATIONS = 3
NUM_CENTERS = 3
SHARDS = {"old": 0.5, "recent": 0.3, "fresh": 0.2}
"""Share of the points."""
COARSE, FINE, DETAIL = 4, 6, 8
GROUPS = {"coarse": COARSE, "fine": FINE, "detail": DETAIL}
"""Features of each point, in single precision."""
NBYTES_PER_POINT = 4 * sum(GROUPS.values()) + 9
"""And a weight of 4, a distance of 4, a label of 1."""


def make(nbytes: int, iterations: int) -> Workload:
    """Returns, from each run, the weighted sum of squared distances after each iteration, and the last centers."""
    num_points = max(int(nbytes / NBYTES_PER_POINT), 8 * NUM_CENTERS)
    ends = [int(num_points * share) for share in np.cumsum(list(SHARDS.values()))]
    ends[-1] = num_points
    ranges = dict(zip(SHARDS, zip([0, *ends[:-1]], ends, strict=True), strict=True))
    return Workload(
        name="kmeans",
        objects=lambda: _objects(ranges, num_points),
        run=lambda store: _run(store, ranges, iterations),
    )


Ranges = dict[str, tuple[int, int]]


def _objects(ranges: Ranges, num_points: int) -> dict[str, Array]:
    random = np.random.default_rng(13)
    objects: dict[str, Array] = {}
    for shard, (start, end) in ranges.items():
        cluster = random.integers(0, NUM_CENTERS, end - start)
        for group, width in GROUPS.items():
            middles = random.random((NUM_CENTERS, width), dtype=np.float32)
            objects[f"{shard}.{group}"] = middles[cluster] + random.random((end - start, width), dtype=np.float32)
    return {
        **objects,
        "weights": random.random(num_points, dtype=np.float32) + np.float32(0.5),
        "distances": np.zeros(num_points, np.float32),
        "labels": np.zeros(num_points, np.uint8),
    }


def _run(store: Store, ranges: Ranges, iterations: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    centers = first_centers()
    scores = []
    for iteration in range(iterations):
        used = list(GROUPS)[: iteration + 1]
        sums = np.zeros((NUM_CENTERS, centers.shape[1] + 1))
        for shard, (start, end) in ranges.items():
            with store.window(f"assign {shard}, {used[-1]}"):
                _assign_shard(store, shard, used, start, end, centers, sums)
        with store.window("score"):
            scores.append(_score(store["distances"], store["weights"], store["labels"]))
        _move(centers, sums, sum(GROUPS[group] for group in used))
    return tuple(scores), tuple(centers.ravel().tolist())


def first_centers() -> Array:
    """Where the centers are when a run begins: [centers, features]."""
    return np.random.default_rng(17).random((NUM_CENTERS, sum(GROUPS.values())), dtype=np.float32) + np.float32(0.5)


def _assign_shard(store: Store, shard: str, used: list[str], start: int, end: int, centers: Array, sums: Array) -> None:
    features = [
        store[f"{shard}.{group}"] if group in used else np.zeros((0, width), np.float32)
        for group, width in GROUPS.items()
    ]
    weights, distances, labels = store["weights"], store.write("distances"), store.write("labels")
    num_points = end - start
    store.count("weights", bytes_read=num_points * weights.itemsize)
    store.count("distances", bytes_written=num_points * distances.itemsize)
    store.count("labels", bytes_written=num_points * labels.itemsize)
    _assign(*features, weights[start:end], distances[start:end], labels[start:end], centers, sums)


def _move(centers: Array, sums: Array, num_features: int) -> None:
    """Each center goes to the weighted mean of its points, in the features that were looked at; an empty one stays."""
    some = sums[:, -1] > 0
    centers[some, :num_features] = sums[some, :num_features] / sums[some, -1:]


@compiled
def _assign(
    coarse: Array,
    fine: Array,
    detail: Array,
    weights: Array,
    distances: Array,
    labels: Array,
    centers: Array,
    sums: Array,
) -> None:
    """The nearest center of each point; adds the points, times their weights, to the sums of their centers."""
    for i in range(len(coarse)):
        nearest = 0
        least = np.float32(np.inf)
        for c in range(NUM_CENTERS):
            far = np.float32(0)
            for f in range(COARSE):
                far += (coarse[i, f] - centers[c, f]) ** 2
            if len(fine):
                for f in range(FINE):
                    far += (fine[i, f] - centers[c, COARSE + f]) ** 2
            if len(detail):
                for f in range(DETAIL):
                    far += (detail[i, f] - centers[c, COARSE + FINE + f]) ** 2
            if far < least:
                nearest = c
                least = far
        distances[i] = least
        labels[i] = nearest
        weight = weights[i]
        for f in range(COARSE):
            sums[nearest, f] += weight * coarse[i, f]
        if len(fine):
            for f in range(FINE):
                sums[nearest, COARSE + f] += weight * fine[i, f]
        if len(detail):
            for f in range(DETAIL):
                sums[nearest, COARSE + FINE + f] += weight * detail[i, f]
        sums[nearest, COARSE + FINE + DETAIL] += weight


@compiled
def _score(distances: Array, weights: Array, labels: Array) -> float:
    by_center = np.zeros(NUM_CENTERS)
    for i in range(len(distances)):
        by_center[labels[i]] += distances[i] * weights[i]
    return float(by_center.sum())
