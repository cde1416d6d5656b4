"""A program: a plain function, and what to call it with.

    @program(lambda: (np.arange(6.0), 2))
    def rolled(a, n): ...

The arguments are made anew for each run. The decorator gives the function back as it is, so that a program can be
stacked with several arguments, call itself and call its neighbours.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])
_FOLDER = Path(__file__).parent.parent
_PROGRAMS: list[Program] = []


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """One function with one way to call it."""

    name: str
    function: Any
    """A plain function of a module."""
    arguments: Callable[[], tuple[Any, ...]]
    keywords: Callable[[], Mapping[str, Any]]
    touches: tuple[str, ...] = ()
    """Globals of its module that it changes: compared after each run, then put back."""
    helpers: tuple[str, ...] = ()
    """Functions of its module that are futurized too, as if each had the decorator."""


def program(
    arguments: Callable[[], tuple[Any, ...]] = lambda: (),
    *,
    keywords: Callable[[], Mapping[str, Any]] = dict,
    touches: tuple[str, ...] = (),
    helpers: tuple[str, ...] = (),
) -> Callable[[_F], _F]:
    """Enter the function below into the programs that are compared."""

    def enter(function: _F) -> _F:
        assert isinstance(function, FunctionType)
        stem = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        before = sum(known.function is function for known in _PROGRAMS)
        _PROGRAMS.append(
            Program(
                name=f"{stem}-{before + 1}" if before else stem,
                function=function,
                arguments=arguments,
                keywords=keywords,
                touches=touches,
                helpers=helpers,
            )
        )
        return function

    return enter


def all_programs() -> list[Program]:
    """The programs of all themes, by name."""
    for path in sorted(_FOLDER.glob("*.py")):
        importlib.import_module(f"tree.programs.{path.stem}")
    return sorted(_PROGRAMS, key=lambda known: known.name)
