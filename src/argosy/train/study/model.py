"""What the noise scale of the baseline, the time of its steps and the link say about more workers, beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from argosy.train.ledger.phases import training_seconds
from argosy.train.ledger.record import Record
from argosy.train.links import Link
from argosy.train.noise import NoiseScale
from argosy.train.predict import Prediction, constant_of, predict
from argosy.train.tasks import Task

_WINDOWS = 12


@dataclass(frozen=True, slots=True)
class Phi:
    """A noise scale with its interval, as `predict` takes it."""

    value: float
    low: float
    high: float


def phi_until(noise: NoiseScale, samples: float, batch: int) -> Phi:
    """The constant noise scale that stands for the baseline's way, until it had learned from so many samples.

    Its interval is as wide, by ratio, as that of the whole run.
    """
    way: list[tuple[float, float]] = []
    for end, phi in noise.trajectory(_WINDOWS):
        way.append((min(end, samples), phi))
        if end >= samples:
            break
    else:
        way[-1] = samples, way[-1][1]
    value, whole = constant_of(way, batch), noise.value
    return Phi(value, value * noise.low / whole, value * noise.high / whole)


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """Of one task on one machine."""

    noise: NoiseScale
    """Of the baseline's runs together."""
    batch: int
    step_seconds: float
    """Of one worker, measured."""
    nbytes: int
    """Of the gradients that workers exchange in a step."""
    link: Link

    def predicted(self, workers: Sequence[int], samples: float) -> Prediction:
        """For a target that the baseline reaches after so many samples."""
        return predict(
            phi_until(self.noise, samples, self.batch),
            batch=self.batch,
            workers=list(workers),
            step_seconds=self.step_seconds,
            nbytes=self.nbytes,
            link=self.link,
        )


def step_seconds_of(records: Sequence[Record]) -> float:
    """The median run's time of a step, without evaluations."""
    return median(training_seconds(record.seconds) / max(record.steps, 1) for record in records)


def gradient_nbytes(task: Task) -> int:
    return sum(one.numel() * one.element_size() for one in task.model(0).parameters())
