"""When to stop before the last epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from argosy import arguments
from argosy.calls import value
from argosy.train.curves import higher_is_better
from argosy.train.run import Evaluation

Stop = Callable[[Sequence[Evaluation]], bool]
"""From all evaluations so far, the newest last. All ranks see the same, so all stop together."""


@value()
@dataclass(frozen=True, kw_only=True, slots=True)
class EarlyStop:
    """Stop when a held-out metric has not become better for `patience` evaluations, or has reached its target."""

    metric: str = "loss"
    patience: int | None = 5
    """None waits for the target alone."""
    least: float = 0.0
    """It must become better by more than this, to count."""
    target: float | None = None
    higher: bool | None = None
    """Whether larger is better. Unless told, by its name: losses and errors are better when lower."""

    def __post_init__(self) -> None:
        if not arguments.text("metric", self.metric):
            raise ValueError("metric must be the name of a metric, not ''")
        if self.patience is not None:
            arguments.settle(self, patience=arguments.whole("patience", self.patience, least=1))
        arguments.settle(self, least=arguments.number("least", self.least, least=0))
        if self.target is not None:
            arguments.settle(self, target=arguments.number("target", self.target))
        if self.higher is not None:
            arguments.settle(self, higher=arguments.flag("higher", self.higher))
        if self.patience is None and self.target is None:
            raise ValueError("an EarlyStop needs a patience or a target, else it never stops")

    def __call__(self, evaluations: Sequence[Evaluation]) -> bool:
        if evaluations and self.metric not in evaluations[-1].metrics:
            there = ", ".join(evaluations[-1].metrics)
            raise ValueError(f"an EarlyStop waits for the metric {self.metric!r}, but there are: {there}")
        sign = 1.0 if self._is_higher() else -1.0
        values = [sign * one.metrics[self.metric] for one in evaluations]
        if self.target is not None and values and values[-1] >= sign * self.target:
            return True
        if self.patience is None or len(values) <= self.patience:
            return False
        return max(values[-self.patience :]) <= max(values[: -self.patience]) + self.least

    def _is_higher(self) -> bool:
        return higher_is_better(self.metric) if self.higher is None else self.higher
