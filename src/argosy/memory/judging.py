"""A plan against the best placement that was tried for its capacity."""

from __future__ import annotations

import numpy as np

from argosy.memory.affording import FINALS
from argosy.memory.designs import distinct
from argosy.memory.estimator import Estimator
from argosy.memory.measuring import Measurements, measure
from argosy.memory.placement import Slow, as_row
from argosy.memory.planning.capacity import parse_capacity
from argosy.memory.planning.solve import plan
from argosy.memory.progress import Progress
from argosy.memory.store import Store
from argosy.memory.validation import Chosen
from argosy.memory.workload import Workload

CAPACITIES = ("25%", "50%", "75%")
FINALISTS = 4
SECOND_REPEATS = 6
NINE_OF_TEN = 1.645  # standard deviations on either side of a normal distribution


def planned_row(estimator: Estimator, capacity: str) -> Slow:
    """The plan for a capacity, as one row."""
    placement = plan(estimator, capacity).placement
    return as_row(placement, estimator.objects, fast=estimator.fast, slow=estimator.slow)


def judge(
    workload: Workload,
    store: Store,
    measured: Measurements,
    row: Slow,
    capacity: str,
    *,
    seed: int = 0,
    finals: int = FINALS[1],
    progress: Progress | None = None,
) -> Chosen:
    """Three steps, each on new runs, so that luck in one does not count in the next.

    The fastest of all that were measured become finalists, the fastest of those in a second round is the best tried,
    and that one and the plan run in turns, `finals` times each; unless the plan is that very placement.
    """
    sizes = np.asarray(measured.sizes)
    room = parse_capacity(capacity, sum(measured.sizes))
    fits = np.flatnonzero((~measured.rows @ sizes) <= room)
    finalists = distinct(measured.rows[fits[np.argsort(measured.at_one_pace().totals[fits])]])[:FINALISTS]
    second = measure(workload, store, finalists, repeats=SECOND_REPEATS, seed=seed, progress=progress)
    seconds = second.at_one_pace().totals
    best = finalists[np.argmin(seconds)]
    if np.array_equal(best, row):
        took = float(seconds.min())
        return Chosen(capacity=capacity, seconds=took, best_seconds=took)
    pair = measure(workload, store, np.stack([row, best]), repeats=finals, seed=seed, progress=progress).at_one_pace()
    ours, best_seconds = (float(total) for total in pair.totals)
    return Chosen(capacity=capacity, seconds=ours, best_seconds=best_seconds, margin=_margin(pair))


def _margin(pair: Measurements) -> float:
    """Half the width of an interval that has the ratio of their times 9 times out of 10."""
    ours, best = np.log(pair.seconds.sum(axis=2))
    rounds = len(ours)
    return NINE_OF_TEN * float((ours - best).std(ddof=1)) / rounds**0.5 if rounds > 1 else float("inf")
