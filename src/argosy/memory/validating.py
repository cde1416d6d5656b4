"""Measured against predicted, on placements that calibration did not run: how far an estimator may be believed."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from argosy.errors import BadTrace
from argosy.memory.costs import density
from argosy.memory.designs import distinct, held_out_rows
from argosy.memory.estimator import Estimator
from argosy.memory.measuring import Measurements, Progress, measure
from argosy.memory.placement import Slow, as_row
from argosy.memory.planning.capacity import parse_capacity
from argosy.memory.planning.solve import plan
from argosy.memory.store import Store
from argosy.memory.tiers.tier import Tier
from argosy.memory.workload import Workload

CAPACITIES = ("25%", "50%", "75%")
ANCHORS = 4
"""Runs of either end in each round."""
FINALISTS = 4
SECOND_REPEATS = 6
FINAL_REPEATS = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """The plan for one capacity, against the best that was tried; both measured again in turns."""

    capacity: str
    seconds: float
    best_seconds: float

    @property
    def regret(self) -> float:
        """How much slower than the best, as a share; 0 if the plan was the best."""
        return max(self.seconds / self.best_seconds - 1, 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Validation:
    """What the estimator said, and what the machine did. Errors are shares of the measured time.

    A machine's speed drifts from one minute to the next. So the two ends are run again among the placements; where they
    have moved by more than twice what noise would explain, `predicted` is by the estimator that is anchored to them.
    None of the placements that are judged has a part in it.
    """

    program: str
    law: str
    objects: tuple[str, ...]
    rows: Slow
    measured: NDArray[np.float64]
    predicted: NDArray[np.float64]
    runs: NDArray[np.float64]
    """[placements, repeats]: seconds of each run; `measured` are their means, without hiccups."""
    noise: float
    """Relative spread of one run among its repeats: no estimator can be better than this on a single run."""
    anchors: tuple[float, float]
    """Seconds of the two ends, run again among the placements."""
    drift: float
    """How much longer the two ends, all fast and all slow, take now than in calibration, as a share; their mean."""
    error_before_anchoring: float
    """The mean error of the estimator as it came, with the drift in it."""
    chosen: tuple[Chosen, ...]

    @property
    def repeats(self) -> int:
        return self.runs.shape[1]

    @property
    def errors(self) -> NDArray[np.float64]:
        return self.predicted / self.measured - 1

    @property
    def mean_error(self) -> float:
        return float(np.abs(self.errors).mean())

    @property
    def largest_error(self) -> float:
        return float(np.abs(self.errors).max())

    @property
    def within_10_percent(self) -> float:
        return float((np.abs(self.errors) <= 0.10).mean())

    @property
    def kendall_tau(self) -> float:
        """Of the order of the placements: 1 if it is the same, 0 if it is left to chance; NaN for a single one."""
        from scipy.stats import kendalltau

        if len(self.rows) < 2:
            return float("nan")
        return float(kendalltau(self.measured, self.predicted).statistic)

    @property
    def regret(self) -> float:
        """Of the plan that came off worst."""
        return max((one.regret for one in self.chosen), default=0.0)

    def under(self, estimator: Estimator) -> Validation:
        """The same runs, held against another estimator of the same program; the plans stay those of this one."""
        before = estimator.predict_many(self.rows)
        moved = np.divide(self.anchors, estimator.seconds[:2]) - 1
        by_noise = max(self.noise, estimator.noise) * np.sqrt(1 / estimator.repeats + 1 / (ANCHORS * self.repeats))
        drifted = bool((np.abs(moved) > 2 * by_noise).any())
        return replace(
            self,
            law=estimator.law,
            predicted=estimator.anchored(*self.anchors).predict_many(self.rows) if drifted else before,
            drift=float(moved.mean()),
            error_before_anchoring=float(np.abs(before / self.measured - 1).mean()),
        )

    def to_json(self) -> dict[str, Any]:
        """The figures, without the placements."""
        return {
            "app": self.program,
            "law": self.law,
            "placements": len(self.rows),
            "repeats": self.repeats,
            "mean_error": self.mean_error,
            "largest_error": self.largest_error,
            "kendall_tau": self.kendall_tau,
            "within_10_percent": self.within_10_percent,
            "regret": self.regret,
            "noise": self.noise,
            "drift": self.drift,
            "error_before_anchoring": self.error_before_anchoring,
        }

    def to_arrow(self) -> pa.Table:
        """One row a placement: the objects in slow memory, and measured and predicted seconds."""
        slow = [[name for name, is_slow in zip(self.objects, row, strict=True) if is_slow] for row in self.rows]
        return pa.table({"slow": slow, "measured_seconds": self.measured, "predicted_seconds": self.predicted})

    def __str__(self) -> str:
        lines = [
            f"{self.program}: {len(self.rows)} placements not seen before, {self.repeats} runs each, law {self.law}",
            f"  mean error       {self.mean_error:7.1%}   largest {self.largest_error:.1%}",
            f"  before anchoring {self.error_before_anchoring:7.1%}",
            f"  within 10 %      {self.within_10_percent:7.1%}",
            f"  Kendall tau      {self.kendall_tau:7.3f}",
            f"  noise of a run   {self.noise:7.1%}   drift since calibration {self.drift:+.1%}",
        ]
        lines += [
            f"  plan at {one.capacity:<4}     {one.regret:7.1%} slower than the best tried ({one.seconds:.4f} s)"
            for one in self.chosen
        ]
        return "\n".join(lines)


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
    that cost most per byte in slow memory, and those that cost least; and one object alone on either side. The plans
    for 25, 50 and 75 % of the bytes are run too, each against the best placement tried for its capacity (`judge`).
    """
    with closing(workload.store(fast=fast, slow=slow)) as store:
        _check_same_objects(store, estimator)
        rows = validation_rows(estimator, placements, seed=seed)
        if not len(rows):
            raise ValueError(
                f"no placement is left to try: calibration ran {len(estimator.measured)}, {placements} are asked for"
            )
        plans = [planned_row(estimator, capacity) for capacity in CAPACITIES]
        anchors = np.repeat(estimator.measured[:2], ANCHORS, axis=0)
        everything = np.concatenate([rows, anchors, np.array(plans)])
        measured = measure(workload, store, everything, repeats=repeats, seed=seed, progress=progress)
        chosen = tuple(
            judge(workload, store, measured, row, capacity, seed=seed)
            for row, capacity in zip(plans, CAPACITIES, strict=True)
        )
    ends = measured.totals[len(rows) : len(rows) + 2 * ANCHORS].reshape(2, ANCHORS).mean(axis=1)
    found = Validation(
        program=workload.name,
        law=estimator.law,
        objects=estimator.objects,
        rows=rows,
        measured=measured.totals[: len(rows)],
        predicted=estimator.predict_many(rows),
        runs=measured.seconds.sum(axis=2)[: len(rows)],
        noise=measured.noise,
        anchors=(float(ends[0]), float(ends[1])),
        drift=0.0,
        error_before_anchoring=0.0,
        chosen=chosen,
    )
    return found.under(estimator)


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
    finalists = measured.rows[fits[np.argsort(measured.totals[fits])][:FINALISTS]]
    second = measure(workload, store, finalists, repeats=SECOND_REPEATS, seed=seed).totals
    best = finalists[np.argmin(second)]
    pair = distinct(np.stack([row, best]))
    seconds = measure(workload, store, pair, repeats=FINAL_REPEATS, seed=seed).totals
    return Chosen(capacity=capacity, seconds=float(seconds[0]), best_seconds=float(seconds[-1]))


def _check_same_objects(store: Store, estimator: Estimator) -> None:
    if store.program != estimator.program or store.sizes != estimator.sizes:
        raise BadTrace(
            f"this estimator is of {estimator.program!r} with objects {', '.join(estimator.objects)}; the workload is "
            f"{store.program!r} with {', '.join(store)}: calibrate the workload that is to be validated, at its size"
        )
