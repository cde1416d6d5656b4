"""What the tests of the command line share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from argosy.events import Event, encode

Run = Callable[..., Result]


def write(path: Path, *events: Event) -> None:
    """Add these events to a file, as the controller does."""
    with path.open("a") as file:
        file.writelines(encode(event) + "\n" for event in events)
