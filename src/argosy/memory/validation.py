"""What an estimator said, and what the machine did."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from argosy.memory.estimator import Estimator
from argosy.memory.measuring import Measurements
from argosy.memory.placement import Slow


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
        }

    def to_arrow(self) -> pa.Table:
        """One row a placement: the objects in slow memory, and measured and predicted seconds."""
        slow = [[name for name, is_slow in zip(self.objects, row, strict=True) if is_slow] for row in self.rows]
        return pa.table({"slow": slow, "measured_seconds": self.measured, "predicted_seconds": self.predicted})

    def __str__(self) -> str:
        lines = [
            f"{self.program}: {len(self.rows)} placements not seen before, {self.repeats} runs each, law {self.law}",
            f"  mean error       {self.mean_error:7.1%}   largest {self.largest_error:.1%}",
            f"  before anchoring {self.error_before_anchoring:7.1%}   at one pace {self.error_at_one_pace:.1%}",
            f"  within 10 %      {self.within_10_percent:7.1%}",
            f"  Kendall tau      {self.kendall_tau:7.3f}",
            f"  noise of a run   {self.noise:7.1%}   drift since calibration {self.drift:+.1%}",
        ]
        lines += [
            f"  plan at {one.capacity:<4}     {one.regret:7.1%} slower than the best tried ({one.seconds:.4f} s)"
            for one in self.chosen
        ]
        return "\n".join(lines)
