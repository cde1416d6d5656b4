"""From settings to findings: the baseline first, then the noise scale and the targets, then the others."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from argosy.errors import TrainError
from argosy.train.curves import crossing_of
from argosy.train.ledger import Ledger
from argosy.train.links import Link
from argosy.train.noise import NoiseScale
from argosy.train.prediction import e_stat
from argosy.train.rates import LrRule
from argosy.train.run import Run
from argosy.train.speedups import speedup
from argosy.train.study.crew import Crew, crew_of
from argosy.train.study.findings import Findings
from argosy.train.study.judge import judged
from argosy.train.study.model import Model, gradient_nbytes, phi_until, step_seconds_of
from argosy.train.study.plots import MISSING, write_plots
from argosy.train.study.runs import HEARD_PER_WINDOW, Assignment, Enough, is_done, ledger_path, read_noise, read_run
from argosy.train.study.settings import Settings, claim, write
from argosy.train.study.table import table_of
from argosy.train.tasks import Task

Tell = Callable[[str, int, int], None]
"""What is being done, how much of it is done, and how much there is."""
_PATIENCE = 2.5
"""A run may take so many times the samples that are predicted for it, before it counts as never reaching its target."""
_USUAL_LINK = Link(latency_seconds=50e-6, bytes_per_second=1.25e9)
"""Ten-gigabit Ethernet, where none can be measured."""
_NO_LINK = "the link is a usual one of 10 Gbit/s, modelled: there were no two ranks between which to measure it"


@dataclass(frozen=True, kw_only=True, slots=True)
class Aims:
    """Settled by the first baseline runs of a study, and kept: runs that are added later go by the same."""

    phi: float
    targets: tuple[float, ...]
    latency_seconds: float | None
    """Of the link that was measured; None where none could be."""
    bytes_per_second: float | None

    @property
    def link(self) -> Link:
        if self.latency_seconds is None or self.bytes_per_second is None:
            return _USUAL_LINK
        return Link(
            latency_seconds=self.latency_seconds, bytes_per_second=self.bytes_per_second, kind="measured"
        )  # fmt: skip


def study(settings: Settings, folder: str | Path, *, ranks: int | None = None, tell: Tell | None = None) -> Findings:
    """Run what is missing in `folder`, and judge all of it. Writes study.json, table.txt, plots and ledgers there.

    `ranks`: of the pilot on which runs are performed; as many as cores, or as the most workers, unless told.
    """
    return _Study(settings, Path(folder), tell or (lambda *_: None)).run(ranks)


class _Study:
    def __init__(self, settings: Settings, folder: Path, tell: Tell) -> None:
        self.settings = settings
        self.folder = folder
        self.tell = tell
        self.task: Task = settings.make_task()
        self.batch = settings.batch or self.task.batch

    def run(self, ranks: int | None) -> Findings:
        claim(self.folder, self.settings)
        others = [workers for workers in self.settings.all_workers if workers > 1]
        with crew_of(self.settings, ranks=ranks, num_runs=len(self._left([1, *others]))) as crew:
            self._perform(crew, "1 worker, the baseline", [1], self._baseline)
            noise = read_noise(self.folder, self.settings.all_seeds)
            aims = self._aims(noise, crew)
            self._perform(crew, "more workers", others, lambda workers, seed: self._larger(aims, workers, seed))
        return self._write(self._judge(noise, aims), aims)

    def _left(self, workers: Sequence[int]) -> list[tuple[int, int]]:
        """Numbers of workers and seeds of the runs that are not there yet."""
        every = [(number, seed) for number in workers for seed in self.settings.all_seeds]
        return [one for one in every if not is_done(self.folder, *one)]

    def _perform(self, crew: Crew, what: str, workers: Sequence[int], make: Callable[[int, int], Assignment]) -> None:
        left = self._left(workers)
        total = len(workers) * self.settings.seeds
        done = total - len(left)
        if total:
            self.tell(what, done, total)

        def count(_assignment: Assignment) -> None:
            nonlocal done
            done += 1
            self.tell(what, done, total)

        crew.perform([make(*one) for one in left], count)

    def _baseline(self, workers: int, seed: int) -> Assignment:
        return self._assignment(workers, seed, "none", None, self.settings.budget or self.task.budget)

    def _larger(self, aims: Aims, workers: int, seed: int) -> Assignment:
        """Until the hardest target is reached, or it is plain that it will not be."""
        kind = self.settings.lr_rule
        rule = LrRule(kind="gain", noise_scale=aims.phi) if kind == "gain" else kind
        hardest = aims.targets[-1]
        start = max(self._samples_to(run, hardest) for run in self._runs([1]))
        most = _PATIENCE * start / e_stat(aims.phi, self.batch, self.batch * workers)
        return self._assignment(workers, seed, rule, hardest, max(round(most), 4 * workers * self.batch))

    def _assignment(self, workers: int, seed: int, rule: Any, target: float | None, samples: int) -> Assignment:
        return Assignment(
            settings=self.settings,
            workers=workers,
            seed=seed,
            folder=self.folder.absolute(),
            lr_rule=rule,
            enough=Enough(metric=self.task.metric, higher=self.task.higher, target=target, samples=samples),
        )

    def _samples_to(self, run: Run, target: float) -> float:
        return crossing_of(run, self.task.metric, target, self.task.higher).samples

    def _runs(self, workers: Sequence[int]) -> list[Run]:
        return [
            read_run(self.folder, number, seed, self.task.metric)
            for number in workers
            for seed in self.settings.all_seeds
        ]

    def _aims(self, noise: NoiseScale, crew: Crew) -> Aims:
        path = self.folder / "aims.json"
        if path.exists():
            told = json.loads(path.read_text())
            return Aims(**{**told, "targets": tuple(told["targets"])})
        runs = self._runs([1])
        result = speedup(
            runs,
            targets=self.settings.targets or "auto",
            metric=self.task.metric,
            higher=self.task.higher,
            confidence=None,
        )
        targets = tuple(sorted(result.targets, reverse=not self.task.higher))
        start = median(self._samples_to(run, targets[-1]) for run in runs)
        phi = phi_until(noise, start, self._windows(noise))
        if not phi.value > 0:
            raise TrainError(
                "no gradient noise was found in the baseline runs, so larger batches cannot help; "
                "take a larger --budget, or a smaller --batch"
            )
        link = crew.link()
        aims = Aims(
            phi=phi.value,
            targets=targets,
            latency_seconds=None if link is None else link.latency_seconds,
            bytes_per_second=None if link is None else link.bytes_per_second,
        )
        told = {name: getattr(aims, name) for name in Aims.__slots__}
        write(path, json.dumps(told, indent=1) + "\n")
        return aims

    def _windows(self, noise: NoiseScale) -> int:
        return max(1, noise.num_steps // (self.settings.seeds * HEARD_PER_WINDOW))

    def _judge(self, noise: NoiseScale, aims: Aims) -> Findings:
        records = [Ledger.read(ledger_path(self.folder, 1, seed)) for seed in self.settings.all_seeds]
        model = Model(
            noise=noise,
            windows=self._windows(noise),
            batch=self.batch,
            step_seconds=step_seconds_of(records),
            nbytes=gradient_nbytes(self.task),
            link=aims.link,
        )
        runs = self._runs(self.settings.all_workers)
        return judged(self.settings, self.task, runs, aims.targets, model)

    def _write(self, findings: Findings, aims: Aims) -> Findings:
        notes = list(findings.notes)
        if 1 not in self.settings.workers:
            notes.append("1 worker is the baseline, and was added")
        if aims.latency_seconds is None:
            notes.append(_NO_LINK)
        try:
            write_plots(findings, self.folder)
        except ImportError:
            notes.append(MISSING)
        findings = replace(findings, notes=tuple(notes))
        write(self.folder / "study.json", json.dumps(findings.as_dict(), indent=1) + "\n")
        write(self.folder / "table.txt", table_of(findings) + "\n")
        return findings
