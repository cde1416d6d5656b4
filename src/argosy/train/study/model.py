"""What the noise scale of the baseline, the time of its steps and the link say about more workers, beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from argosy.train.ledger.phases import training_seconds
from argosy.train.ledger.record import Record
from argosy.train.links import Link
from argosy.train.noise import NoiseScale
from argosy.train.noise.phi import Phi, typical
from argosy.train.prediction import Prediction, predict
from argosy.train.tasks import Task


def phi_until(noise: NoiseScale, samples: float, windows: int) -> Phi:
    """The noise scale that stands for the baseline's way until it had learned from so many samples.

    The median over windows of that way, each of which is pooled over seeds.
    """
    return typical(noise.trajectory(windows), samples, noise.confidence)


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """Of one task on one machine."""

    noise: NoiseScale
    """Of the baseline's runs together."""
    windows: int
    """Into which the baseline is cut: as often as the noise scale was measured in each run."""
    batch: int
    step_seconds: float
    """Of one worker, measured."""
    nbytes: int
    """Of the gradients that workers exchange in a step."""
    link: Link

    def phi_until(self, samples: float) -> Phi:
        return phi_until(self.noise, samples, self.windows)

    def predicted(self, workers: Sequence[int], samples: float) -> Prediction:
        """For a target that the baseline reaches after so many samples."""
        return predict(
            self.phi_until(samples),
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
