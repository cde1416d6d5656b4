"""Measured against predicted, on placements that calibration did not run: how far an estimator may be believed."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace

import numpy as np

from argosy import arguments
from argosy.errors import BadTrace
from argosy.memory.affording import FINALS, LEAST_REPEATS, affordable_finals, affordable_repeats, repeats_for
from argosy.memory.calibrating import NOISE_ALLOWED, Calibrated
from argosy.memory.designs import MOST_PLACEMENTS, design_rows
from argosy.memory.estimator import Estimator
from argosy.memory.held_out import validation_rows
from argosy.memory.judging import CAPACITIES, FINALISTS, SECOND_REPEATS, judge, planned_row
from argosy.memory.measuring import Measurements, check_noise, measure
from argosy.memory.moves import measure_moves
from argosy.memory.placement import Slow
from argosy.memory.progress import Progress, Steps, shown
from argosy.memory.store import Store
from argosy.memory.tiers.tier import Tier
from argosy.memory.validation import Chosen, Validation
from argosy.memory.workload import Workload

SECONDS = 150.0
"""Unless told, of a whole validation."""
_BEFORE_FINALS = FINALISTS * SECOND_REPEATS
LEAST_AGAIN = 24
"""Runs of calibrated placements in each round, or the drift would not be known better than the noise."""
ROUGH_REPEATS = 2
PRICED = 12
"""Placements that are run once to see how long a run takes, moves included."""
TOLD_BY_TWO = 2**-0.5
"""Two runs of a placement tell only so much of the noise, in the middle placement: half their distance is too low."""


def validate(
    workload: Workload | str,
    estimator: Estimator | None = None,
    placements: int = 200,
    seed: int = 0,
    *,
    repeats: int | None = None,
    seconds: float | None = SECONDS,
    fast: Tier | None = None,
    slow: Tier | None = None,
    progress: Progress | bool | None = True,
) -> Validation:
    """Runs mixed placements that calibration did not, random and adversarial, and holds them against the estimator.

    `workload` may be the name of a mini-app, such as "cg". Without an estimator one is calibrated in the same rounds.

    Each placement runs as often as its noise asks for, or as `seconds` allow (but twice at the least), or `repeats`
    times; what it came to, how noisy runs were and between what the mean error is then, the result says.
    `seconds=None` sets no limit.
    `progress`: True is a bar on stderr, if that is a terminal; or a function that is told (done, of how many).

    Adversarial are those that a law which cannot tell objects apart gets most wrong: at every capacity the objects
    that cost most per byte in slow memory, and those that cost least; and one object alone on either side. The
    calibrated placements run again among them, to tell drift from error. Then the plans for 25, 50 and 75 % of the
    bytes are run, each against the best placement tried for its capacity (`judge`).
    """
    placements = arguments.whole("placements", placements, least=1, most=MOST_PLACEMENTS)
    seed = arguments.whole("seed", seed, least=0)
    repeats = None if repeats is None else arguments.whole("repeats", repeats, least=1)
    seconds = (
        None
        if seconds is None
        else arguments.number("seconds", seconds, infinite=True, wanted="a number above 0, or None for no limit")
    )
    if estimator is not None:
        arguments.instance("estimator", estimator, Estimator, "what calibrate() gave")
    found = _found(workload)
    if estimator is None:
        return calibrate_and_validate(
            found,
            placements,
            seed,
            repeats=repeats,
            seconds=seconds,
            noise=float("inf"),
            fast=fast,
            slow=slow,
            progress=progress,
        )[1]
    clock = _Clock(seconds)
    with shown(progress, f"validating {found.name}") as tell, closing(found.store(fast=fast, slow=slow)) as store:
        _check_same_objects(store, estimator)
        rows = _held_out(estimator, placements, seed)
        times = -(-LEAST_AGAIN // len(estimator.measured))
        known = np.concatenate([estimator.measured] * times)
        rows = np.concatenate([known, rows])
        steps = Steps(tell)
        steps.expect(len(rows) * LEAST_REPEATS)
        if repeats is None and seconds is not None:
            some = np.random.default_rng(seed).permutation(len(rows))[:PRICED]
            measure(found, store, rows[some], repeats=1, seed=seed, progress=steps)
        wanted = repeats_for(estimator.noise) if repeats is None else repeats
        measured = _measured(found, store, rows, wanted, repeats is not None, seed, clock, steps)
        judged = _judged(found, store, measured, len(known), estimator, seed, clock, steps)
        return replace(judged, wanted_repeats=wanted)


def calibrate_and_validate(
    workload: Workload | str,
    placements: int = 200,
    seed: int = 0,
    *,
    law: str = "auto",
    design: str = "random",
    repeats: int | None = None,
    seconds: float | None = None,
    noise: float = NOISE_ALLOWED,
    fast: Tier | None = None,
    slow: Tier | None = None,
    progress: Progress | bool | None = None,
) -> tuple[Calibrated, Validation]:
    """Both in the same rounds, so that no drift lies between them; the law sees the placements of the design alone.

    A rough calibration comes first, by which the adversarial placements are found, how long a run takes, and how many
    of each placement the noise asks for unless `repeats` says it; its runs have no other part. `seconds` is for all of
    it; None sets no limit. Raises `TooNoisy` where the rough runs of a placement differ by more than `noise`.
    """
    found = _found(workload)
    clock = _Clock(seconds)
    with shown(progress, f"validating {found.name}") as tell, closing(found.store(fast=fast, slow=slow)) as store:
        known = design_rows(design, len(store), seed=seed)
        few = ROUGH_REPEATS if repeats is None else min(ROUGH_REPEATS, repeats)
        steps = Steps(tell)
        steps.expect((few + LEAST_REPEATS) * len(known) + LEAST_REPEATS * placements)
        first = measure(found, store, known, repeats=few, seed=seed, progress=steps)
        rough = _calibrated(store, first)
        check_noise(rough.measured, noise)
        rows = np.concatenate([known, _held_out(rough.estimator(law), placements, seed)])
        wanted = repeats_for(first.noise / TOLD_BY_TWO) if repeats is None else repeats
        measured = _measured(found, store, rows, wanted, repeats is not None, seed, clock, steps)
        runs = _calibrated(store, measured.select(slice(len(known))))
        judged = _judged(found, store, measured, len(known), runs.estimator(law), seed, clock, steps)
        return runs, replace(judged, wanted_repeats=wanted)


class _Clock:
    """What has been taken of the time that there is."""

    def __init__(self, seconds: float | None) -> None:
        if seconds is not None and not seconds > 0:
            raise ValueError(f"seconds={seconds} leaves no time to measure in; give more, or None for no limit")
        self.asked = seconds
        self._began = time.monotonic()

    @property
    def took(self) -> float:
        return time.monotonic() - self._began

    @property
    def left(self) -> float | None:
        """None where there is no limit."""
        return None if self.asked is None else max(self.asked - self.took, 0.0)


def _found(workload: Workload | str) -> Workload:
    if not isinstance(workload, str):
        wanted = "an argosy.memory.Workload or the name of a mini-app"
        found: Workload = arguments.instance("workload", workload, Workload, wanted)
        return found
    from argosy.memory import miniapps

    return miniapps.load(workload)


def _measured(
    workload: Workload,
    store: Store,
    rows: Slow,
    wanted: int,
    exactly: bool,
    seed: int,
    clock: _Clock,
    steps: Steps,
) -> Measurements:
    """As often as is wanted or, unless exactly that is meant, as the time allows, by what the runs before took."""
    run_seconds = steps.seconds_a_run
    left = None if exactly else clock.left
    often = affordable_repeats(wanted, len(rows), run_seconds=run_seconds, left_seconds=left)
    steps.expect(often * len(rows) + len(CAPACITIES) * (_BEFORE_FINALS + 2 * FINALS[0]))
    return measure(workload, store, rows, repeats=often, seed=seed, progress=steps)


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
    workload: Workload,
    store: Store,
    measured: Measurements,
    num_known: int,
    estimator: Estimator,
    seed: int,
    clock: _Clock,
    steps: Steps,
) -> Validation:
    """`measured` has the calibrated placements first."""
    run_seconds = steps.seconds_a_run
    chosen: list[Chosen] = []
    for capacity in CAPACITIES:
        plans = len(CAPACITIES) - len(chosen)
        finals = affordable_finals(before=_BEFORE_FINALS, plans=plans, run_seconds=run_seconds, left_seconds=clock.left)
        steps.expect(plans * (_BEFORE_FINALS + 2 * finals))
        row = planned_row(estimator, capacity)
        chosen.append(judge(workload, store, measured, row, capacity, seed=seed, finals=finals, progress=steps))
    steps.end()
    held_out = measured.select(slice(num_known, None))
    found = Validation(
        program=workload.name,
        law=estimator.law,
        held_out=held_out,
        again=measured.select(slice(num_known)),
        predicted=estimator.predict_many(held_out.rows),
        drift=0.0,
        error_before_anchoring=0.0,
        chosen=tuple(chosen),
        asked_seconds=clock.asked,
        took_seconds=clock.took,
    )
    return found.under(estimator)


def _check_same_objects(store: Store, estimator: Estimator) -> None:
    if store.program != estimator.program or store.sizes != estimator.sizes:
        raise BadTrace(
            f"this estimator is of {estimator.program!r} with objects {', '.join(estimator.objects)}; the workload is "
            f"{store.program!r} with {', '.join(store)}: calibrate the workload that is to be validated, at its size"
        )
