"""The learning rate of every step, as one product: base rate x rule for the batch x warm-up x schedule.

A pure function of the step, so a resumed run has the same rates and nothing of it is kept in a checkpoint.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from argosy import arguments
from argosy.calls import value

Kind = Literal["none", "linear", "sqrt", "gain"]
_KINDS = ("none", "linear", "sqrt", "gain")
Schedule = Callable[[float], float]
"""From the share of the run that is done, 0 to 1, to a factor."""


@value()
@dataclass(frozen=True, kw_only=True, slots=True)
class LrRule:
    """What a batch of another size does to the learning rate that was chosen for `base_batch` samples.

    none     1
    linear   B / B0, reached by a linear warm-up
    sqrt     sqrt(B / B0)
    gain     B / B0 * (phi + B0) / (phi + B): linear far below the noise scale phi, constant far above it
    """

    kind: Kind = "none"
    base_batch: int | None = None
    """B0, for which the optimizer's own rate was chosen. Unless told: what a batch size for each worker says, or, of a
    batch size for all workers, that batch itself."""
    warmup_epochs: float | None = None
    """Over how many epochs the factor grows from 1. Unless told: none; for `linear` a tenth of the run, at most 5."""
    noise_scale: float | None = None
    """phi, for `gain`."""

    def __post_init__(self) -> None:
        if arguments.text("kind", self.kind) not in _KINDS:
            said = arguments.show(self.kind)
            raise ValueError(f"kind: there is no learning-rate rule {said}; there are {', '.join(_KINDS)}")
        for name in ("noise_scale", "warmup_epochs"):
            if (given := getattr(self, name)) is not None:
                arguments.settle(self, **{name: arguments.number(name, given, least=0)})
        if self.base_batch is not None:
            arguments.settle(self, base_batch=arguments.whole("base_batch", self.base_batch, least=1))
        if self.kind == "gain" and (self.noise_scale is None or not self.noise_scale > 0):
            raise ValueError(
                f"the rule 'gain' needs the gradient noise scale, above 0, not {self.noise_scale}; "
                "measure it with train.NoiseScale, then LrRule(kind='gain', noise_scale=phi)"
            )

    def factor(self, batch: float, base: float) -> float:
        ratio = batch / base
        if self.kind == "linear":
            return ratio
        if self.kind == "sqrt":
            return math.sqrt(ratio)
        if self.kind == "gain":
            phi = self.noise_scale or 0.0
            return ratio * (phi + base) / (phi + batch)
        return 1.0


def lr_rule_of(given: str | LrRule | None) -> LrRule:
    if isinstance(given, LrRule):
        return given
    return LrRule(kind="none" if given is None else _kind(given))


def _kind(given: Any) -> Kind:
    if not isinstance(given, str) or given not in _KINDS:
        raise (ValueError if isinstance(given, str) else TypeError)(
            f"lr_rule: there is no learning-rate rule {arguments.show(given)}; there are {', '.join(_KINDS)}"
        )
    return given  # type: ignore[return-value]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """The factor of the optimizer's own rate at each step, counted from 0."""

    rule: LrRule
    batch: int
    base_batch: int
    num_steps: int
    warmup_steps: int
    schedule: Schedule | None

    @property
    def factor(self) -> float:
        """What the rule makes of the batch."""
        return self.rule.factor(self.batch, self.base_batch)

    def at(self, step: int) -> float:
        factor = self.factor
        if step < self.warmup_steps:
            factor = 1 + (factor - 1) * (step + 1) / self.warmup_steps
        return factor * (self.schedule(min(1.0, step / self.num_steps)) if self.schedule else 1.0)

    def facts(self) -> dict[str, object]:
        """For the ledger."""
        return {
            "lr_rule": self.rule.kind,
            "lr_base_batch": self.base_batch,
            "lr_factor": self.factor,
            "lr_noise_scale": self.rule.noise_scale,
            "warmup_steps": self.warmup_steps,
        }


def rates_of(
    rule: LrRule, schedule: str | Schedule | None, *, batch: int, base_batch: int, steps_per_epoch: int, epochs: int
) -> Rates:
    num_steps = max(1, steps_per_epoch * epochs)
    base = rule.base_batch or base_batch
    warmup = rule.warmup_epochs
    if warmup is None:
        grows = rule.kind == "linear" and rule.factor(batch, base) > 1
        warmup = min(5.0, epochs / 10) if grows else 0.0
    return Rates(
        rule=rule,
        batch=batch,
        base_batch=base,
        num_steps=num_steps,
        warmup_steps=round(warmup * steps_per_epoch),
        schedule=schedule_of(schedule),
    )


def _cosine(done: float) -> float:
    return 0.5 * (1 + math.cos(math.pi * done))


def _linear(done: float) -> float:
    return 1 - done


_SCHEDULES: dict[str, Schedule] = {"cosine": _cosine, "linear": _linear}


def schedule_of(given: str | Schedule | None) -> Schedule | None:
    if given is None or callable(given):
        return given
    if arguments.text("schedule", given, "a name or a function") not in _SCHEDULES:
        said = arguments.show(given)
        raise ValueError(f"there is no schedule {said}; there are {', '.join(_SCHEDULES)}, or give a function")
    return _SCHEDULES[given]
