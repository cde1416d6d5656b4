"""What a task can know about where it runs."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from argosy.pilot.start import StartMessage
from argosy.pilot.worker.allowance import Allowance


class Context(NamedTuple):
    start: StartMessage
    folder: Path
    """The folder of the run."""
    memory_per_rank: int | None
    """How many bytes this rank may have: its share of what the user gave the pilot; None when nothing was said."""
    allowance: Allowance | None = None
    """What the task may add to its process, where that is watched."""


_current: Context | None = None


def enter(context: Context | None) -> None:
    global _current
    _current = context


def current() -> Context:
    if _current is None:
        raise RuntimeError("no task is running in this process")
    return _current
