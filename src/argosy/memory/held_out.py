"""Which placements to hold an estimator against: ones it was not calibrated on, some of them made to mislead it."""

from __future__ import annotations

import numpy as np

from argosy.memory.costs import density
from argosy.memory.designs import distinct, held_out_rows
from argosy.memory.estimator import Estimator
from argosy.memory.placement import Slow


def validation_rows(estimator: Estimator, count: int, *, seed: int = 0) -> Slow:
    """So many mixed placements that calibration did not run, a quarter of them adversarial; or all there are."""
    tricky = adversarial_rows(estimator)
    seen = {row.tobytes() for row in estimator.measured}
    fresh = [row for row in tricky if row.tobytes() not in seen]
    picked = np.random.default_rng(seed).permutation(len(fresh))[: count // 4]
    first = np.array([fresh[at] for at in picked], dtype=np.bool_).reshape(-1, len(estimator.objects))
    known = np.concatenate([estimator.measured, first])
    return np.concatenate([first, held_out_rows(known, count - len(first), seed=seed)])


def adversarial_rows(estimator: Estimator) -> list[Slow]:
    """Nested placements by density, up and down, and each object alone; none of them all fast or all slow."""
    num_objects = len(estimator.objects)
    by_density = np.argsort(density(estimator.costs))
    rows: list[Slow] = []
    for order in (by_density, by_density[::-1]):
        for count in range(1, num_objects):
            row = np.zeros(num_objects, dtype=np.bool_)
            row[order[:count]] = True
            rows.append(row)
    alone = np.eye(num_objects, dtype=np.bool_)
    rows += [*alone, *~alone]
    return list(distinct(np.array(rows))) if num_objects > 1 else []
