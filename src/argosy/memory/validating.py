"""Measured against predicted, on placements that calibration did not run: how far an estimator may be believed."""

from __future__ import annotations

from contextlib import closing

import numpy as np

from argosy.errors import BadTrace
from argosy.memory.calibrating import NOISE_ALLOWED, Calibrated
from argosy.memory.designs import design_rows, distinct
from argosy.memory.estimator import Estimator
from argosy.memory.held_out import validation_rows
from argosy.memory.measuring import Measurements, Progress, check_noise, measure
from argosy.memory.moves import measure_moves
from argosy.memory.placement import Slow, as_row
from argosy.memory.planning.capacity import parse_capacity
from argosy.memory.planning.solve import plan
from argosy.memory.store import Store
from argosy.memory.tiers.tier import Tier
from argosy.memory.validation import Chosen, Validation
from argosy.memory.workload import Workload

CAPACITIES = ("25%", "50%", "75%")
LEAST_AGAIN = 24
"""Runs of calibrated placements in each round, or the drift would not be known better than the noise."""
ROUGH_REPEATS = 2
REPEATS = (8, 16)
"""At least and at most so many runs of each placement, where nobody says how many."""
NOISE_OF_A_MEAN = 0.02
"""How far the mean of a placement's runs may be off by chance, if as many runs as that are allowed."""
TOLD_BY_TWO = 2**-0.5
"""Two runs of a placement tell only so much of the noise, in the middle placement: half their distance is too low."""
FINALISTS = 4
SECOND_REPEATS = 6
FINAL_REPEATS = 60


def validate(
    workload: Workload,
    estimator: Estimator,
    placements: int = 200,
    seed: int = 0,
    *,
    repeats: int = 5,
    fast: Tier | None = None,
    slow: Tier | None = None,
    progress: Progress | None = None,
) -> Validation:
    """Runs mixed placements that calibration did not, random and adversarial, and holds them against the estimator.

    Adversarial are those that a law which cannot tell objects apart gets most wrong: at every capacity the objects
    that cost most per byte in slow memory, and those that cost least; and one object alone on either side. The
    calibrated placements run again among them, to tell drift from error. Then the plans for 25, 50 and 75 % of the
    bytes are run, each against the best placement tried for its capacity (`judge`).
    """
    with closing(workload.store(fast=fast, slow=slow)) as store:
        _check_same_objects(store, estimator)
        rows = _held_out(estimator, placements, seed)
        times = -(-LEAST_AGAIN // len(estimator.measured))
        known = np.concatenate([estimator.measured] * times)
        measured = measure(
            workload, store, np.concatenate([known, rows]), repeats=repeats, seed=seed, progress=progress
        )
        return _judged(workload, store, measured, len(known), estimator, seed)


def calibrate_and_validate(
    workload: Workload,
    placements: int = 200,
    seed: int = 0,
    *,
    law: str = "auto",
    design: str = "random",
    repeats: int | None = None,
    noise: float = NOISE_ALLOWED,
    fast: Tier | None = None,
    slow: Tier | None = None,
    progress: Progress | None = None,
) -> tuple[Calibrated, Validation]:
    """Both in the same rounds, so that no drift lies between them; the law sees the placements of the design alone.

    A rough calibration comes first, by which the adversarial placements are found, and how many runs of each placement
    the noise asks for unless `repeats` says it; its runs have no other part.
    """
    with closing(workload.store(fast=fast, slow=slow)) as store:
        known = design_rows(design, len(store), seed=seed)
        few = ROUGH_REPEATS if repeats is None else min(ROUGH_REPEATS, repeats)
        first = measure(workload, store, known, repeats=few, seed=seed, progress=progress)
        rough = _calibrated(store, first)
        check_noise(rough.measured, noise)
        rows = _held_out(rough.estimator(law), placements, seed)
        often = repeats_for(first.noise / TOLD_BY_TWO) if repeats is None else repeats
        measured = measure(workload, store, np.concatenate([known, rows]), repeats=often, seed=seed, progress=progress)
        runs = _calibrated(store, measured.select(slice(len(known))))
        check_noise(runs.measured, noise)
        return runs, _judged(workload, store, measured, len(known), runs.estimator(law), seed)


def repeats_for(noise: float) -> int:
    """Of each placement, so that chance does not drown what is to be judged, where one run is as noisy as this."""
    least, most = REPEATS
    return min(max(int(np.ceil((noise / NOISE_OF_A_MEAN) ** 2)), least), most)


def planned_row(estimator: Estimator, capacity: str) -> Slow:
    """The plan for a capacity, as one row."""
    placement = plan(estimator, capacity).placement
    return as_row(placement, estimator.objects, fast=estimator.fast, slow=estimator.slow)


def judge(
    workload: Workload, store: Store, measured: Measurements, row: Slow, capacity: str, *, seed: int = 0
) -> Chosen:
    """A plan against the best placement that was tried for its capacity.

    Three steps, each on new runs, so that luck in one does not count in the next: the fastest of all that were measured
    become finalists, the fastest of those in a second round is the best tried, and that one and the plan run in turns.
    """
    sizes = np.asarray(measured.sizes)
    room = parse_capacity(capacity, sum(measured.sizes))
    fits = np.flatnonzero((~measured.rows @ sizes) <= room)
    finalists = distinct(measured.rows[fits[np.argsort(measured.at_one_pace().totals[fits])]])[:FINALISTS]
    second = measure(workload, store, finalists, repeats=SECOND_REPEATS, seed=seed).at_one_pace().totals
    best = finalists[np.argmin(second)]
    pair = distinct(np.stack([row, best]))
    seconds = measure(workload, store, pair, repeats=FINAL_REPEATS, seed=seed).at_one_pace().totals
    return Chosen(capacity=capacity, seconds=float(seconds[0]), best_seconds=float(seconds[-1]))


def _calibrated(store: Store, measured: Measurements) -> Calibrated:
    return Calibrated(measured=measured, moves=measure_moves(store), fast=store.fast.name, slow=store.slow.name)


def _held_out(estimator: Estimator, placements: int, seed: int) -> Slow:
    rows = validation_rows(estimator, placements, seed=seed)
    if not len(rows):
        ran, there_are = len(estimator.measured), 2 ** len(estimator.objects)
        raise ValueError(
            f"no mixed placement is left to try: calibration ran {ran} of the {there_are} there are, and {placements} "
            f"others are asked for"
        )
    return rows


def _judged(
    workload: Workload, store: Store, measured: Measurements, num_known: int, estimator: Estimator, seed: int
) -> Validation:
    """`measured` has the calibrated placements first."""
    chosen = tuple(
        judge(workload, store, measured, planned_row(estimator, capacity), capacity, seed=seed)
        for capacity in CAPACITIES
    )
    held_out = measured.select(slice(num_known, None))
    found = Validation(
        program=workload.name,
        law=estimator.law,
        held_out=held_out,
        again=measured.select(slice(num_known)),
        predicted=estimator.predict_many(held_out.rows),
        drift=0.0,
        error_before_anchoring=0.0,
        chosen=chosen,
    )
    return found.under(estimator)


def _check_same_objects(store: Store, estimator: Estimator) -> None:
    if store.program != estimator.program or store.sizes != estimator.sizes:
        raise BadTrace(
            f"this estimator is of {estimator.program!r} with objects {', '.join(estimator.objects)}; the workload is "
            f"{store.program!r} with {', '.join(store)}: calibrate the workload that is to be validated, at its size"
        )
