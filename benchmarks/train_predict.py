"""Samples to a target, foreseen from the noise scale of one worker and measured with up to 256.

The study of `argosy scale` itself. One worker is trained with each seed, and its gradient noise scale is measured on
the way. From that alone, samples to each target are predicted for every other number of workers, n_1 (phi + B) /
(phi + b); then those are trained, and counted.

How phi is averaged along the way (the median over windows of 1,024 samples, see `argosy.train.study.model`) was chosen
among six ways by their errors on seeds 0 to 2 of `atoms`, when it had 8 samples a worker; learning rates, batches and
budgets of the tasks were chosen on the same seeds. With one measurement of phi in 1,024 samples, seeds 200 to 204 told
21.6 % for `atoms`: phi itself was known to a quarter only. It is measured four times as often now, which was judged by
seeds 300 to 304 (16.9 %). The seeds here are others, by which nothing was chosen.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

from figures import Figure, Options

from argosy.train.study import Settings, study

FIRST_SEED = 400
"""Seeds that nothing was chosen by. A quick look takes others, so that it does not use these up."""
WORKERS = tuple(2**power for power in range(9))
TASKS = ("atoms", "fold")


def predict(options: Options) -> list[Figure]:
    """Predicted against measured samples to target, 1 to 256 virtual workers: the median error up to B = 4 phi."""
    return [figure for task in TASKS for figure in _of(task, options)]


def _of(task: str, options: Options) -> list[Figure]:
    settings = Settings(
        task=task,
        workers=(1, 4, 16) if options.quick else WORKERS,
        seeds=options.turns(5, 2),
        first_seed=0 if options.quick else FIRST_SEED,
        budget=8_000 if options.quick else None,
    )
    with tempfile.TemporaryDirectory() as folder:
        findings = study(settings, Path(folder) / task)
    limit = 4 * findings.phi
    near, far = findings.median_error(up_to=limit), findings.median_error(beyond=limit)
    rows = [row for row in findings.of("modelled") if row.workers > 1]
    worst = max((row.error or 0.0 for row in rows if row.workers * findings.batch <= limit), default=math.nan)
    missed = sum(row.missed for row in findings.of("measured"))
    note = f"phi {findings.phi:.0f} ({findings.phi_low:.0f} to {findings.phi_high:.0f}), batch {findings.batch}"
    figures = [
        Figure(
            what=f"{task}: median error of predicted samples, B up to 4 phi",
            value=math.nan if near is None else 100 * near,
            unit="%",
            at_most=20.0,
            note=note,
        ),
        Figure(what=f"{task}: largest error, B up to 4 phi", value=100 * worst, unit="%"),
        Figure(what=f"{task}: targets missed, over all runs", value=missed, note="counted with all samples seen"),
        Figure(what=f"{task}: ceiling of learning speed-up", value=findings.ceiling, unit="x"),
    ]
    if far is not None:
        figures.insert(1, Figure(what=f"{task}: median error, B beyond 4 phi", value=100 * far, unit="%"))
    residual = 100 * findings.largest_residual
    what = f"{task}: residual of S_learn = S_par x E_stat, largest"
    figures.append(Figure(what=what, value=residual, unit="%", at_most=5.0, note="by the runs' own time"))
    return figures
