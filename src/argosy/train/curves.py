"""When a run first reached a target."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from argosy.train.run import Evaluation, Run

_LOWER_IS_BETTER = {"loss", "error", "err", "mae", "mse", "rmse", "nll", "perplexity"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Crossing:
    """What a run needed to reach a target. One that never did needs more than `samples` and `seconds`."""

    samples: float
    seconds: float
    reached: bool


def higher_is_better(metric: str) -> bool:
    """By its name: losses and errors are better when they are lower, all else when it is higher."""
    return _LOWER_IS_BETTER.isdisjoint(re.findall(r"[a-z]+", metric.lower()))


def best_so_far(run: Run, metric: str, higher: bool) -> Iterator[tuple[Evaluation, float]]:
    """The evaluations that have the metric, each with the best value until then. NaN is never the best."""
    best = -math.inf if higher else math.inf
    for evaluation in run.evaluations:
        if metric in evaluation.metrics:
            value = evaluation.metrics[metric]
            if value > best if higher else value < best:
                best = value
            yield evaluation, best


def crossing_of(run: Run, metric: str, target: float, higher: bool) -> Crossing:
    """The first crossing of the target by the metric's best value so far, on a straight line between evaluations.

    A run that is there at its first evaluation needed as much as that one: what was before is not known. The line is
    only drawn between finite values.
    """
    before: tuple[Evaluation, float] | None = None
    for at, best in best_so_far(run, metric, higher):
        if best >= target if higher else best <= target:
            if before is None or not math.isfinite(before[1]) or not math.isfinite(best):
                return Crossing(samples=at.samples, seconds=at.seconds, reached=True)
            earlier, worse = before
            share = (target - worse) / (best - worse)
            samples = earlier.samples + share * (at.samples - earlier.samples)
            seconds = earlier.seconds + share * (at.seconds - earlier.seconds)
            return Crossing(samples=samples, seconds=seconds, reached=True)
        before = at, best
    last = before[0] if before is not None else Evaluation(samples=0, seconds=0.0, metrics={})
    return Crossing(samples=last.samples, seconds=last.seconds, reached=False)
