"""What a task can know about where it runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    task: int
    attempt: int
    name: str
    ranks: tuple[int, ...]
    """All ranks of the task."""
    index: int
    """The place of this rank among them."""
    hosts: tuple[str, ...]
    """The node of each of them."""
    gpus: tuple[int, ...]
    folder: Path
    """The folder of the run."""


_current: Context | None = None


def enter(context: Context | None) -> None:
    global _current
    _current = context


def current() -> Context:
    if _current is None:
        raise RuntimeError("no task is running in this process")
    return _current
