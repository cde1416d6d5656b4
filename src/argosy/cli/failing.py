"""How a command says that it cannot do what was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, ParamSpec, TypeVar

import typer

P = ParamSpec("P")
T = TypeVar("T")


def leave(message: str) -> NoReturn:
    """Say why on stderr, and end with status 1."""
    typer.echo(f"argosy: {message}", err=True)
    raise typer.Exit(1)


def or_leave(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the call returns; a file that cannot be found, read or written ends the command with its message."""
    try:
        return call(*args, **kwargs)
    except OSError as error:
        leave(f"{error.filename}: {error.strerror}" if error.filename else str(error))
