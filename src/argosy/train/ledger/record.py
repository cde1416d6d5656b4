"""A ledger that was read back."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

from argosy.errors import TrainError
from argosy.train.ledger.lines import read_lines
from argosy.train.ledger.phases import NO_SECONDS, training_seconds
from argosy.train.run import Evaluation, Run


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """What the file of a ledger says, as far as it was written."""

    facts: dict[str, Any]
    steps: int
    samples: int
    seconds: dict[str, float]
    """By phase, over the whole run."""
    losses: Sequence[float]
    """One for each step that is in the file; NaN where a step has none."""
    evaluations: tuple[Evaluation, ...]
    ended: bool
    """The run came to its end; it was not cut short."""

    def run(self) -> Run:
        return run_of(self.facts, self.evaluations, self.steps, self.samples, self.seconds)


def read(path: Path) -> Record:
    """A last line that was cut by a kill is passed over."""
    if not path.exists():
        raise TrainError(f"there is no ledger at {path}; name the file that Ledger(path) wrote")
    facts: dict[str, Any] = {}
    seconds = dict(NO_SECONDS)
    losses = array("d")
    evaluations: list[Evaluation] = []
    steps = samples = 0
    ended = False
    for _, line in read_lines(path):
        kind = line["kind"]
        ended = kind == "end"
        if kind == "run":
            facts |= _facts(line)
        elif kind == "evaluation":
            metrics = {name: nan if value is None else float(value) for name, value in line["metrics"].items()}
            evaluations.append(Evaluation(samples=line["samples"], seconds=line["seconds"], metrics=metrics))
        elif kind == "step":
            steps, samples = line["step"], line["samples"]
            losses.append(nan if line["loss"] is None else line["loss"])
            for phase, spent in line["seconds"].items():
                seconds[phase] += spent
        elif kind in ("resume", "end"):
            steps, samples = line["step"], line["samples"]
            seconds = NO_SECONDS | line["seconds"]
            if kind == "resume":
                facts |= _facts(line)
    if not facts and not steps:
        raise TrainError(f"{path} is not a ledger: it does not begin with a line of the kind 'run'")
    return Record(
        facts=facts,
        steps=steps,
        samples=samples,
        seconds=seconds,
        losses=losses,
        evaluations=tuple(evaluations),
        ended=ended,
    )


def run_of(
    facts: Mapping[str, Any],
    evaluations: Sequence[Evaluation],
    steps: int,
    samples: int,
    seconds: dict[str, float],
) -> Run:
    """As speed-up sees it. The batch is the mean one where the facts do not say."""
    for fact in ("workers", "seed"):
        if fact not in facts:
            raise TrainError(f"the ledger does not say {fact!r}, which a run is judged by; make it Ledger({fact}=...)")
    spent = training_seconds(seconds)
    return Run(
        workers=int(facts["workers"]),
        seed=int(facts["seed"]),
        batch=int(facts.get("batch") or round(samples / max(steps, 1))),
        evaluations=tuple(evaluations),
        samples_per_second=samples / spent if spent > 0 else 0.0,
    )


def _facts(line: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in line.items() if name not in ("kind", "version", "step", "samples", "seconds")
    }
