"""One run of a study: trained, and kept as a ledger that says whether it came to its end."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from argosy.comm.ranks import Alone
from argosy.errors import LossNotFinite, PeerFailed
from argosy.train.ledger import Ledger
from argosy.train.noise import NoiseScale
from argosy.train.run import Evaluation, Run
from argosy.train.study.settings import Settings, write
from argosy.train.tasks import Task

_HEAR_EVERY = 256
"""Samples of the baseline between two measurements of the noise scale."""
HEARD_PER_WINDOW = 4
"""Measurements of one run whose mean stands for that part of the way."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Assignment:
    """One run that is to be made."""

    settings: Settings
    workers: int
    seed: int
    folder: Path
    lr_rule: Any
    """An `LrRule`, or the name of one."""
    enough: Enough

    @property
    def ledger(self) -> Path:
        return ledger_path(self.folder, self.workers, self.seed)


@dataclass(frozen=True, kw_only=True, slots=True)
class Enough:
    """When a run may stop: at a value of its metric, or after so many samples."""

    metric: str
    higher: bool
    target: float | None
    """None: go on to the last sample, as the baseline does."""
    samples: int

    def __call__(self, evaluations: Sequence[Evaluation]) -> bool:
        last = evaluations[-1]
        if last.samples >= self.samples:
            return True
        value = last.metrics[self.metric]
        return self.target is not None and (value >= self.target if self.higher else value <= self.target)


def ledger_path(folder: Path, workers: int, seed: int) -> Path:
    return folder / "runs" / f"workers-{workers}-seed-{seed}.jsonl"


def noise_path(folder: Path, seed: int) -> Path:
    return folder / "runs" / f"noise-seed-{seed}.json"


def diverged_path(folder: Path, workers: int, seed: int) -> Path:
    """There when the run's loss ceased to be a number."""
    return folder / "runs" / f"workers-{workers}-seed-{seed}.diverged.json"


def is_done(folder: Path, workers: int, seed: int) -> bool:
    if diverged_path(folder, workers, seed).exists():
        return True
    path = ledger_path(folder, workers, seed)
    heard = workers > 1 or noise_path(folder, seed).exists()
    return heard and path.exists() and Ledger.read(path).ended


def read_run(folder: Path, workers: int, seed: int, metric: str) -> Run:
    """A run that diverged has missed every target that it had not reached, however long it would have gone on."""
    run = Ledger.read(ledger_path(folder, workers, seed)).run()
    if not (path := diverged_path(folder, workers, seed)).exists():
        return run
    samples = json.loads(path.read_text())["samples"]
    seconds = samples / run.samples_per_second if run.samples_per_second else 0.0
    end = Evaluation(samples=samples, seconds=seconds, metrics={metric: math.nan})
    return replace(run, evaluations=(*run.evaluations, end))


def read_noise(folder: Path, seeds: Sequence[int]) -> NoiseScale:
    """That of all baseline runs together."""
    scales = []
    for seed in seeds:
        scales.append(NoiseScale())
        scales[-1].load_state_dict(json.loads(noise_path(folder, seed).read_text()))
    return NoiseScale.together(scales)


def perform(assignment: Assignment, comm: Any = None) -> None:
    """Train, on the ranks of `comm` or in this process. Leaves a ledger, and of the baseline the noise scale."""
    from argosy.train.batch_size import per_worker
    from argosy.train.fitting import fit
    from argosy.train.study.sounding import Sounding, single_thread

    settings, workers, seed = assignment.settings, assignment.workers, assignment.seed
    task = _task(settings)
    data = task.data()
    batch = settings.batch or task.batch
    noise = Sounding(*data.train, seed=seed) if workers == 1 else None
    first = comm is None or comm.rank == 0
    assignment.ledger.parent.mkdir(parents=True, exist_ok=True)
    try:
        with single_thread():
            fit(
                lambda: task.model(seed),
                data.train,
                valid=data.valid,
                loss=task.loss,
                metrics=task.metric,
                optimizer=lambda parameters: _sgd(parameters, task),
                batch_size=per_worker(batch),
                workers=workers,
                epochs=-(-assignment.enough.samples // task.num_train),
                lr_rule=assignment.lr_rule,
                seed=seed,
                stop=assignment.enough,
                evaluate_every=task.evaluate_every,
                ledger=assignment.ledger,
                noise=noise,
                noise_every=max(1, _HEAR_EVERY // batch),
                comm=Alone() if comm is None else comm,
            )
    except (LossNotFinite, PeerFailed) as error:
        if workers == 1 or not (isinstance(error, LossNotFinite) or LossNotFinite.__name__ in str(error)):
            raise
        if first:
            told = {"samples": assignment.enough.samples, "said": str(error)}
            write(diverged_path(assignment.folder, workers, seed), json.dumps(told) + "\n")
    if noise is not None and first:
        write(noise_path(assignment.folder, seed), json.dumps(noise.state_dict()) + "\n")


@lru_cache(maxsize=1)
def _task(settings: Settings) -> Task:
    """Made once in a process: its samples are kept with it."""
    return settings.make_task()


def _sgd(parameters: Any, task: Task) -> Any:
    import torch

    return torch.optim.SGD(parameters, lr=task.lr, momentum=task.momentum)
