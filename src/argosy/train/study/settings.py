"""What a study is about, checked before anything runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argosy.errors import TrainError
from argosy.train.tasks import Task, task_named

_RULES = ("gain", "linear", "sqrt", "none")
_FILE = "settings.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """One worker is the baseline, and is added where it was left out."""

    task: str
    workers: tuple[int, ...]
    seeds: int
    """How many, from `first_seed` on."""
    first_seed: int = 0
    virtual: bool = True
    """Workers share one rank, side by side or one after the other; otherwise each is a rank."""
    batch: int | None = None
    """Samples of one worker in a step; the task's own unless told."""
    budget: int | None = None
    """Samples of a baseline run; the task's own unless told."""
    lr_rule: str = "gain"
    targets: tuple[float, ...] | None = None
    """Values of the held-out metric; unless told, chosen from the baseline runs."""
    data: str | None = None
    """Where the task's files are, if it has any."""

    def __post_init__(self) -> None:
        if not self.workers:
            raise TrainError("a study needs numbers of workers, like 1,2,8")
        if bad := [number for number in self.workers if number < 1]:
            raise TrainError(f"a number of workers is 1 or more, not {bad[0]}")
        if len(set(self.workers)) < len(self.workers):
            twice = next(number for number in self.workers if self.workers.count(number) > 1)
            raise TrainError(f"{twice} workers are there twice; give each number once")
        if self.seeds < 1:
            raise TrainError(f"a study needs at least 1 seed, and 2 or more for intervals; not {self.seeds}")
        if self.batch is not None and self.batch < 2:
            raise TrainError(
                f"a worker's batch has 2 samples or more, not {self.batch}: noise is told by comparing them"
            )
        if self.budget is not None and self.budget < 1:
            raise TrainError(f"a budget is a number of samples above 0, not {self.budget}")
        if self.lr_rule not in _RULES:
            raise TrainError(f"there is no learning-rate rule {self.lr_rule!r}; there are {', '.join(_RULES)}")
        if self.targets is not None and not self.targets:
            raise TrainError("targets are values of the held-out metric, like 0.7,0.8,0.9, or 'auto'")

    @property
    def all_workers(self) -> tuple[int, ...]:
        return tuple(sorted({1, *self.workers}))

    @property
    def all_seeds(self) -> range:
        return range(self.first_seed, self.first_seed + self.seeds)

    @property
    def label(self) -> dict[str, Any]:
        """What two runs must share to be judged together. More workers and seeds may come later."""
        return {
            "task": self.task,
            "first_seed": self.first_seed,
            "virtual": self.virtual,
            "batch": self.batch,
            "budget": self.budget,
            "lr_rule": self.lr_rule,
            "targets": None if self.targets is None else list(self.targets),
            "data": self.data,
        }

    def make_task(self) -> Task:
        options = {} if self.data is None else {"path": self.data}
        try:
            return task_named(self.task, **options)
        except TypeError as error:
            needs = "needs --data, where its files are" if self.data is None else "has no files: leave --data out"
            raise TrainError(f"the task {self.task!r} {needs}") from error


def claim(folder: Path, settings: Settings) -> None:
    """The folder is this study's from now on; one that holds another study is refused."""
    path = folder / _FILE
    if path.exists():
        there = json.loads(path.read_text())
        other = [
            f"{name} {there.get(name)!r} and not {value!r}"
            for name, value in settings.label.items()
            if there.get(name) != value
        ]
        if other:
            raise TrainError(f"{folder} holds a study with {', '.join(other)}; name another folder, or remove it")
        return
    if folder.exists() and any(folder.iterdir()):
        raise TrainError(f"{folder} has something else in it; name an empty folder, or one that is not there yet")
    folder.mkdir(parents=True, exist_ok=True)
    write(path, json.dumps(settings.label, indent=1) + "\n")


def write(path: Path, text: str) -> None:
    """Whole or not at all."""
    beside = path.with_name(path.name + ".part")
    beside.write_text(text)
    beside.replace(path)
