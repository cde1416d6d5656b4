"""How a command of `argosy memory` ends when it cannot go on: one line on stderr, and a status that says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from argosy.cli.failing import leave
from argosy.errors import ArgosyError, NoTier, TooNoisy

INTERRUPTED = 130
"""The exit status of a program that Ctrl-C has ended."""

_HINTS: dict[type[ArgosyError], str] = {
    TooNoisy: " (here: --repeats and --noise)",
    NoTier: " (here: --folder, --fast and --slow)",
}
_EXTRA_OF = {"scipy": "memory", "gymnasium": "memory", "torch": "train", "matplotlib": "plots"}


@contextmanager
def one_line() -> Iterator[None]:
    """Around all that a command does. A closed stdout is left to the command line itself, which ends in silence."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("\nargosy: stopped before it was done", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        raise
    except ImportError as error:
        extra = _EXTRA_OF.get((error.name or "").partition(".")[0])
        leave(str(error) if extra is None or "argosy[" in str(error) else f"{error}; pip install 'argosy[{extra}]'")
    except ArgosyError as error:
        leave(f"{error}{_HINTS.get(type(error), '')}")
    except OSError as error:
        leave(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))


@contextmanager
def refusing() -> Iterator[None]:
    """Around calls that refuse what the user wrote by a ValueError: its message is the answer."""
    try:
        yield
    except ValueError as error:
        leave(str(error))


def check_out(path: Path) -> None:
    """Can a file be written there? Ask before a long measurement, not after it."""
    if path.is_dir():
        leave(f"{path} is a folder; name a file in it")
    if not path.parent.is_dir():
        leave(f"there is no folder {path.parent} for {path.name}")
