"""What is studied: which runs there are, checked before any of them starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from pathlib import Path

from argosy.bench.locality.shards import SHARDS
from argosy.errors import BadBatch, TrainError
from argosy.shuffle.fraction import checked_fraction
from argosy.train.tasks import Task, task_named

NORMS = ("local", "averaged", "synchronised", "none")
"""BatchNorm: by each worker's part of the batch, evaluated with the running statistics of worker 0 ("local") or with
their mean over workers ("averaged"); by the samples of all workers; or no such layers at all."""
FRACTIONS = (0.0, 0.01, 0.1, 0.3, 1.0)
EVERY = (1, 16)
GLOBAL = 1.0
"""The share that is global shuffling, with which all others are compared."""
ANY = "any"
"""The shards of a run in which all samples are dealt anew for every epoch."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Course:
    """How a task is learned in this study, whatever is exchanged. The rates were chosen with global shuffling."""

    samples: int
    """At most; each worker gets the same whole number of batches of them."""
    held_out: int
    batch: int
    """Samples of one worker in a step."""
    epochs: int
    lr: float
    """With BatchNorm, where workers are averaged after every step."""
    lower_lr: float
    """Without BatchNorm, and where workers step apart: both bear less."""

    def lr_of(self, norm: str, every: int) -> float:
        return self.lr if every == 1 and norm != "none" else self.lower_lr


COURSES = {
    "atoms": Course(samples=8_192, held_out=8_192, batch=8, epochs=40, lr=0.1, lower_lr=0.05),
    "cifar10": Course(samples=25_000, held_out=10_000, batch=16, epochs=30, lr=0.2, lower_lr=0.05),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One run. Two with the same fields are the same run."""

    task: str
    workers: int
    shards: str
    norm: str
    every: int
    fraction: float
    seed: int
    samples: int
    held_out: int
    batch: int
    epochs: int
    lr: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A grid of runs. Fields that are None are the task's own."""

    task: str = "atoms"
    workers: int = 64
    seeds: int = 5
    fractions: tuple[float, ...] = FRACTIONS
    shards: tuple[str, ...] = tuple(SHARDS)
    norms: tuple[str, ...] = NORMS
    every: tuple[int, ...] = EVERY
    samples: int | None = None
    batch: int | None = None
    epochs: int | None = None
    lr: float | None = None
    data: Path | None = None
    """Where the task's file is, if it has one."""

    def __post_init__(self) -> None:
        _known("task in this study", [self.task], COURSES)
        _known("kind of shards", self.shards, SHARDS)
        _known("BatchNorm", self.norms, NORMS)
        for fraction in self.fractions:
            checked_fraction(fraction)
        for name, given in (("fraction", self.fractions), ("kind of shards", self.shards), ("BatchNorm", self.norms),
                            ("number of steps", self.every)):  # fmt: skip
            if len(set(given)) < max(1, len(given)):
                raise TrainError(f"each {name} is named once, and at least one is; not {', '.join(map(str, given))}")
        numbers = (self.workers, self.seeds, *self.every, self.samples, self.batch, self.epochs, self.lr)
        if bad := [one for one in numbers if one is not None and not one > 0]:
            raise TrainError(f"workers, seeds, steps, samples, batch, epochs and lr are above 0, not {bad[0]}")
        if self.shard < 2 * self.batch_size:
            raise BadBatch(
                f"{self.workers} workers with 2 batches of {self.batch_size} samples or more need "
                f"{2 * self.workers * self.batch_size:,} samples, but there are {self.samples or self.course.samples:,}"
                "; take fewer workers, or a smaller batch"
            )

    @property
    def course(self) -> Course:
        return COURSES[self.task]

    @property
    def batch_size(self) -> int:
        return self.batch or self.course.batch

    @property
    def shard(self) -> int:
        """Samples of one worker: whole batches."""
        return (self.samples or self.course.samples) // (self.workers * self.batch_size) * self.batch_size

    def make_task(self) -> Task:
        if self.task == "cifar10":
            return task_named(
                self.task, path=self.data, num_train=self.workers * self.shard, num_valid=self.course.held_out
            )
        if self.data is not None:
            raise TrainError(f"the task {self.task!r} has no files: leave --data out")
        return task_named(self.task, num_train=self.workers * self.shard, num_valid=self.course.held_out)

    def trials(self) -> Iterator[Trial]:
        """Seed by seed, so that a study that was stopped has something of everything."""
        for seed, every, norm in product(range(self.seeds), self.every, self.norms):
            if GLOBAL in self.fractions:
                yield self.trial(ANY, norm, every, GLOBAL, seed)
            for shards, fraction in product(self.shards, self.fractions):
                if fraction != GLOBAL:
                    yield self.trial(shards, norm, every, fraction, seed)

    def trial(self, shards: str, norm: str, every: int, fraction: float, seed: int) -> Trial:
        return Trial(
            task=self.task,
            workers=self.workers,
            shards=ANY if fraction == GLOBAL else shards,
            norm=norm,
            every=every,
            fraction=fraction,
            seed=seed,
            samples=self.workers * self.shard,
            held_out=self.course.held_out,
            batch=self.batch_size,
            epochs=self.epochs or self.course.epochs,
            lr=self.lr or self.course.lr_of(norm, every),
        )


def _known(what: str, names: Iterable[str], there: Iterable[str]) -> None:
    there = list(there)
    for name in names:
        if name not in there:
            near = get_close_matches(name, there, n=1)
            hint = f", did you mean {near[0]!r}?" if near else ""
            raise TrainError(f"there is no {what} {name!r}{hint}; there are: {', '.join(there)}")
