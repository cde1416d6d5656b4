"""What an estimator said, and what the machine did."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from argosy.memory.affording import LEAST_REPEATS
from argosy.memory.estimator import Estimator
from argosy.memory.laws.ends import find_ends
from argosy.memory.laws.linear import fit_linear
from argosy.memory.measuring import Measurements
from argosy.memory.placement import Slow

DRAWN_AGAIN = 400
"""How often placements are drawn again, some of them twice, to see how far a figure depends on which they were."""
TWO_RUNS = "one run all fast, one all slow, the linear law, the same held-out placements"
NINE_OF_TEN = (5, 95)  # percentiles


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """The plan for one capacity, against the best that was tried; both measured again in turns."""

    capacity: str
    seconds: float
    best_seconds: float
    margin: float = 0.0
    """The regret is known to so much either way, 9 times out of 10; 0 where the plan is the best placement tried."""

    @property
    def regret(self) -> float:
        """How much slower than the best, as a share; 0 if the plan was the best."""
        return max(self.seconds / self.best_seconds - 1, 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Validation:
    """What the estimator said, and what the machine did. Errors are shares of the measured time.

    A machine's speed drifts from one minute to the next. So the placements that the estimator was calibrated on are run
    again among the others, and `predicted` is by the estimator that is anchored to them: scaled by two numbers. None of
    the placements that are judged has a part in it.
    """

    program: str
    law: str
    held_out: Measurements
    """Placements that the estimator was not calibrated on."""
    again: Measurements
    """Those that it was, in the same rounds."""
    predicted: NDArray[np.float64]
    """Of the held-out placements."""
    drift: float
    """How much longer placements take now than in calibration, as a share; their mean."""
    error_before_anchoring: float
    """The mean error of the estimator as it came, with the drift in it."""
    chosen: tuple[Chosen, ...]
    wanted_repeats: int = 0
    """Runs of each placement, had there been the time; 0 where that is not known."""
    asked_seconds: float | None = None
    """For all of it; None for no limit."""
    took_seconds: float = 0.0

    @property
    def objects(self) -> tuple[str, ...]:
        return self.held_out.objects

    @property
    def rows(self) -> Slow:
        return self.held_out.rows

    @property
    def measured(self) -> NDArray[np.float64]:
        """Seconds of each placement: the mean over its runs, without hiccups."""
        return self.held_out.totals

    @property
    def runs(self) -> NDArray[np.float64]:
        """[placements, repeats]: seconds of each run."""
        return self.held_out.seconds.sum(axis=2)

    @property
    def noise(self) -> float:
        """Relative spread of one run among its repeats: no estimator can be better than this on a single run."""
        return self.held_out.noise

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
    def mean_error_interval(self) -> tuple[float, float]:
        """Between what the mean error of such placements is, 9 times out of 10: fewer placements, or noisier ones, make
        it wider."""
        low, high = np.percentile(np.abs(self.errors)[self._drawn_again()].mean(axis=1), NINE_OF_TEN)
        return float(low), float(high)

    @property
    def kendall_tau_interval(self) -> tuple[float, float]:
        """The same of the order."""
        taus = [_tau(self.measured[some], self.predicted[some]) for some in self._drawn_again()]
        low, high = np.nanpercentile(taus, NINE_OF_TEN) if not np.isnan(taus).all() else (float("nan"),) * 2
        return float(low), float(high)

    def _drawn_again(self) -> NDArray[np.int64]:
        return np.random.default_rng(0).integers(0, len(self.rows), (DRAWN_AGAIN, len(self.rows)))

    @property
    def calibrated_on(self) -> int:
        """So many placements."""
        return len({row.tobytes() for row in self.again.rows})

    @property
    def by_chance(self) -> float | None:
        """How far a placement's measured time is off by chance, as a share; None where each was run once. An estimator
        that is right would show four fifths of this as its mean error."""
        return self.noise / self.repeats**0.5 if self.repeats > 1 else None

    @property
    def errors_from_two_runs(self) -> NDArray[np.float64]:
        """The mean error of the linear law on the same placements, from one run all fast and one all slow and nothing
        else: for each repeat of these two.

        That is how the error of differential tracing is published; `mean_error` is of an estimator that was calibrated
        on more placements, run more often.
        """
        ends = self.again.select(list(find_ends(self.again)))
        pairs = [replace(ends, seconds=ends.seconds[:, [at]], pace=None) for at in range(ends.seconds.shape[1])]
        predicted = [fit_linear(pair).total(self.rows) for pair in pairs]
        return np.array([np.abs(each / self.measured - 1).mean() for each in predicted])

    @property
    def error_at_one_pace(self) -> float:
        """The mean error against what the runs would have taken, had the machine been as fast at each of them."""
        return float(np.abs(self.predicted / self.held_out.at_one_pace().totals - 1).mean())

    @property
    def largest_error(self) -> float:
        return float(np.abs(self.errors).max())

    @property
    def within_10_percent(self) -> float:
        return float((np.abs(self.errors) <= 0.10).mean())

    @property
    def kendall_tau(self) -> float:
        """Of the order of the placements: 1 if it is the same, 0 if it is left to chance; NaN for a single one."""
        return _tau(self.measured, self.predicted)

    @property
    def regret(self) -> float:
        """Of the plan that came off worst."""
        return max((one.regret for one in self.chosen), default=0.0)

    def under(self, estimator: Estimator) -> Validation:
        """The same runs, held against another estimator of the same program; the plans stay those of this one."""
        before = estimator.predict_many(self.rows)
        again = self.again.at_one_pace()
        return replace(
            self,
            law=estimator.law,
            predicted=estimator.anchored(again.rows, again.totals).predict_many(self.rows),
            drift=float((again.totals / estimator.predict_many(again.rows)).mean() - 1),
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
            "regrets": {one.capacity: one.regret for one in self.chosen},
            "noise": self.noise,
            "drift": self.drift,
            "error_before_anchoring": self.error_before_anchoring,
            "error_at_one_pace": self.error_at_one_pace,
            "mean_error_interval": list(self.mean_error_interval),
            "kendall_tau_interval": list(self.kendall_tau_interval),
            "by_chance": self.by_chance,
            "calibrated_on": self.calibrated_on,
            "two_runs": {
                "mean_error": float(self.errors_from_two_runs.mean()),
                "least": float(self.errors_from_two_runs.min()),
                "most": float(self.errors_from_two_runs.max()),
                "protocol": TWO_RUNS,
            },
            "regret_margins": {one.capacity: one.margin for one in self.chosen},
            "wanted_repeats": self.wanted_repeats,
            "asked_seconds": self.asked_seconds,
            "took_seconds": self.took_seconds,
        }

    def to_arrow(self) -> pa.Table:
        """One row a placement: the objects in slow memory, and measured and predicted seconds."""
        slow = [[name for name, is_slow in zip(self.objects, row, strict=True) if is_slow] for row in self.rows]
        return pa.table({"slow": slow, "measured_seconds": self.measured, "predicted_seconds": self.predicted})

    def __str__(self) -> str:
        two, tau = self.errors_from_two_runs, self.kendall_tau_interval
        low, high = self.mean_error_interval
        learnt = f"calibrated on {self.calibrated_on} others"
        chance = "" if self.by_chance is None else f"; a mean of {self.repeats} runs is off by {self.by_chance:.1%}"
        lines = [
            f"{self.program}: {len(self.rows)} placements not seen before, {self.repeats} runs each, law {self.law}",
            f"  mean error       {self.mean_error:7.1%}   {low:.1%} to {high:.1%} (90 %); {learnt}",
            f"  largest error    {self.largest_error:7.1%}",
            f"  from two runs    {two.mean():7.1%}   {two.min():.1%} to {two.max():.1%}; {TWO_RUNS}",
            f"  before anchoring {self.error_before_anchoring:7.1%}   at one pace {self.error_at_one_pace:.1%}",
            f"  within 10 %      {self.within_10_percent:7.1%}",
            f"  Kendall tau      {self.kendall_tau:7.3f}   {tau[0]:.3f} to {tau[1]:.3f} (90 %)",
            f"  noise of a run   {self.noise:7.1%}   drift since calibration {self.drift:+.1%}{chance}",
        ]
        lines += [
            f"  plan at {one.capacity:<4}     {one.regret:7.1%} slower than the best tried ({one.seconds:.4f} s"
            f"{f', {one.margin:.1%} either way' if one.margin else ', the same'})"
            for one in self.chosen
        ]
        return "\n".join([*lines, *self._about_time()])

    def _about_time(self) -> list[str]:
        """What the time was enough for."""
        if not self.took_seconds:
            return []
        asked = "" if self.asked_seconds is None else f" of {self.asked_seconds:.0f} s"
        line = f"  time             {self.took_seconds:5.0f} s{asked}"
        if self.repeats >= self.wanted_repeats:
            return [line]
        line += f": {self.repeats} runs of each placement, where the noise asks for {self.wanted_repeats}"
        if self.asked_seconds is not None and self.took_seconds > self.asked_seconds and self.repeats <= LEAST_REPEATS:
            line += "; fewer would not tell what is noise, so ask for fewer placements or a smaller size"
        return [line]


def _tau(measured: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    from scipy.stats import kendalltau

    return float(kendalltau(measured, predicted).statistic) if len(measured) > 1 else float("nan")
