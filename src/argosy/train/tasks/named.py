"""The tasks by name."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from argosy.errors import TrainError
from argosy.train.tasks.atoms import atoms
from argosy.train.tasks.cifar10 import cifar10
from argosy.train.tasks.fold import fold
from argosy.train.tasks.imagefolder import imagefolder
from argosy.train.tasks.task import Task

TASKS: dict[str, Callable[..., Task]] = {"atoms": atoms, "fold": fold, "cifar10": cifar10, "imagefolder": imagefolder}


def task_named(name: str, **options: Any) -> Task:
    """A task with its own settings, some of them replaced by `options`. Raises `TrainError` for a name there is not."""
    if name not in TASKS:
        near = get_close_matches(name, TASKS, n=1)
        hint = f", did you mean {near[0]!r}?" if near else ""
        raise TrainError(f"there is no task {name!r}{hint}; there are: {', '.join(TASKS)}")
    return TASKS[name](**options)
