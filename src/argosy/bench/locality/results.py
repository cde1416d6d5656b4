"""The runs that are done: one line of JSON for each, added when it ends. A study that was stopped goes on from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from argosy.bench.locality.plan import Trial

_FILE = "runs.jsonl"


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What one run gave."""

    accuracy: float
    """Of the held-out samples, from 0 to 1."""
    seconds: float
    device: str


def read(folder: Path) -> dict[Trial, Outcome]:
    """A last line that was cut off with the process that wrote it is not a run."""
    path = folder / _FILE
    if not path.exists():
        return {}
    return dict(read_line(line) for line in path.read_text().splitlines() if line.endswith("}}"))


def read_line(line: str) -> tuple[Trial, Outcome]:
    told = json.loads(line)
    return Trial(**told["trial"]), Outcome(**told["outcome"])


def add(folder: Path, trial: Trial, outcome: Outcome) -> None:
    """Several processes may add to one file: a line is written at once."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _FILE
    cut = path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
    with path.open("a") as file:
        file.write(("\n" if cut else "") + json.dumps({"trial": asdict(trial), "outcome": asdict(outcome)}) + "\n")


def accuracies(done: Mapping[Trial, Outcome], trials: list[Trial]) -> dict[int, float]:
    """By seed, of those trials that are done."""
    return {trial.seed: done[trial].accuracy for trial in trials if trial in done}
