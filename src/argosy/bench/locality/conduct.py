"""From a plan to findings: run what is not there yet, then judge all of it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from argosy.bench.locality import results, table
from argosy.bench.locality.findings import Row, findings_of
from argosy.bench.locality.plan import Plan, Trial
from argosy.bench.locality.plots import MISSING, write_plot
from argosy.bench.locality.results import Outcome

Tell = Callable[[str], None]


def conduct(plan: Plan, folder: Path, *, device: str = "auto", tell: Tell) -> list[Row]:
    """Writes runs.jsonl, table.md, findings.json and a plot into `folder`. Runs that are there are not made again."""
    done = results.read(folder)
    trials = list(plan.trials())
    left = [trial for trial in trials if trial not in done]
    if len(left) < len(trials):
        tell(f"{len(trials) - len(left)} of {len(trials)} runs are in {folder} already")
    if left:
        perform = _performer(plan, device)
        for number, trial in enumerate(left, start=len(trials) - len(left) + 1):
            done[trial] = perform(trial)
            results.add(folder, trial, done[trial])
            tell(f"{number} of {len(trials)}: {_named(trial)}: {done[trial].accuracy:.1%}, {done[trial].seconds:.1f} s")
    rows = findings_of(plan, done)
    (folder / "table.md").write_text(table.markdown(plan, rows))
    (folder / "findings.json").write_text(json.dumps([row.as_dict() for row in rows], indent=1) + "\n")
    try:
        write_plot(plan, rows, folder)
    except ImportError:
        tell(MISSING)
    return rows


def _performer(plan: Plan, device: str) -> Callable[[Trial], Outcome]:
    """The samples are made or read once, and stay on the device."""
    import torch

    from argosy.bench.locality.learning import images_of, learned
    from argosy.bench.locality.network import Network
    from argosy.bench.locality.reading import reading_of
    from argosy.train.device import device_of

    where = device_of(device, (0, 1))
    torch.backends.cudnn.benchmark = where.type == "cuda"
    task = plan.make_task()
    data = task.data()
    images: Any = images_of(data, where)

    def perform(trial: Trial) -> Outcome:
        start = time.perf_counter()
        model = task.model(trial.seed, batch_norm=trial.norm != "none").to(where)
        num_sets = 1 if trial.every == 1 else trial.workers
        network = Network(model, num_workers=trial.workers, num_sets=num_sets, norm=trial.norm)
        reading = reading_of(
            data.train[1], trial.workers, shards=trial.shards, fraction=trial.fraction, seed=trial.seed
        )
        accuracy = learned(
            network, images, reading, epochs=trial.epochs, batch=trial.batch, lr=trial.lr, every=trial.every
        )
        return Outcome(accuracy=accuracy, seconds=round(time.perf_counter() - start, 3), device=where.type)

    return perform


def _named(trial: Trial) -> str:
    shards = f"{trial.shards} shards, " if trial.fraction < 1 else ""
    every = f"averaged every {trial.every}"
    return f"Q = {trial.fraction:g}, {shards}BatchNorm {trial.norm}, {every}, seed {trial.seed}"
