"""From runs and a model to findings: measured and modelled rows, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from argosy.train.curves import crossing_of
from argosy.train.noise.phi import Phi
from argosy.train.prediction import PredictionRow, e_stat
from argosy.train.run import Run
from argosy.train.speedups import SpeedupRow, speedup
from argosy.train.study.findings import Findings, Row
from argosy.train.study.model import Model
from argosy.train.study.settings import Settings
from argosy.train.tasks import Task

_CONFIDENCE = 0.9
ONE_SEED = "no intervals: there is one seed, and chance is told by comparing several; ask for --seeds 3 or more"


@dataclass(frozen=True, slots=True)
class Judge:
    task: Task
    runs: Sequence[Run]
    model: Model

    def samples_to(self, workers: int, target: float) -> float:
        """Of the median run. A run that never reached the target counts with all that it saw: it needs more."""
        ours = [run for run in self.runs if run.workers == workers]
        return median(crossing_of(run, self.task.metric, target, self.task.higher).samples for run in ours)

    def phi_to(self, target: float) -> Phi:
        return self.model.phi_until(self.samples_to(1, target))


def judged(settings: Settings, task: Task, runs: Sequence[Run], targets: Sequence[float], model: Model) -> Findings:
    judge = Judge(task, runs, model)
    workers = settings.all_workers
    several = settings.seeds > 1
    last = model.predicted(workers, judge.samples_to(1, targets[-1]))
    judge_by = partial(speedup, runs, targets=targets, metric=task.metric, higher=task.higher, baseline=1)
    own_time = judge_by(confidence=None)
    s_par = {row.workers: row.s_par for row in last.rows} if settings.virtual else None
    measured = judge_by(confidence=_CONFIDENCE if several else None, s_par=s_par)
    residuals = {(row.workers, row.target): row.residual for row in own_time.rows}
    rows = [
        _measured(row, residuals[row.workers, row.target], judge.samples_to(row.workers, row.target))
        for row in measured.rows
    ]
    for target in targets:
        start = judge.samples_to(1, target)
        phi = judge.phi_to(target)
        rows += [
            _modelled(row, target, start, judge.samples_to(row.workers, target), phi, model.batch, several)
            for row in model.predicted(workers, start).rows
        ]
    phi = judge.phi_to(targets[-1])
    return Findings(
        task=task.name,
        metric=task.metric,
        higher=task.higher,
        virtual=settings.virtual,
        batch=model.batch,
        lr_rule=settings.lr_rule,
        phi=phi.value,
        phi_low=phi.low,
        phi_high=phi.high,
        seeds=settings.seeds,
        targets=tuple(targets),
        rows=tuple(rows),
        largest=last.largest,
        notes=() if several else (ONE_SEED,),
    )


def _measured(row: SpeedupRow, residual: float, samples: float) -> Row:
    return Row(
        workers=row.workers,
        target=row.target,
        s_par=row.s_par,
        e_stat=row.e_stat,
        s_learn=row.s_learn,
        low=row.low,
        high=row.high,
        kind="measured",
        s_par_kind=row.s_par_kind,
        e_stat_kind="measured",
        e_stat_low=row.e_stat_low,
        e_stat_high=row.e_stat_high,
        residual=residual,
        samples=samples,
        censored=row.censored,
        missed=row.missed,
        seeds=row.seeds,
    )


def _modelled(
    row: PredictionRow, target: float, start: float, measured: float, phi: Phi, batch: int, several: bool
) -> Row:
    """`start`: samples of the baseline to the target; `measured`: of these workers."""
    ends = [float(e_stat(at, batch, batch * row.workers)) for at in (phi.low, phi.high)]
    low, high = ends if several else (None, None)
    return Row(
        workers=row.workers,
        target=target,
        s_par=row.s_par,
        e_stat=row.e_stat,
        s_learn=row.s_learn,
        low=None if low is None else row.s_par * low,
        high=None if high is None else row.s_par * high,
        kind="modelled",
        s_par_kind="modelled",
        e_stat_kind="modelled",
        e_stat_low=low,
        e_stat_high=high,
        residual=0.0,
        samples=start / row.e_stat,
        error=abs(start / row.e_stat / measured - 1),
    )
