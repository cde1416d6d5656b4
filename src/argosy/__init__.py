"""Argosy: prepare data and train models inside one allocation of machines.

`pilot` decides which task runs where. Below it lie `comm` (ranks that move together) and plain data (`resources`,
`events`, `errors`, `units`); above it `report` and `cli`, which people look at. Importing this package loads neither
MPI nor the pilot: each public name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME_OF = {
    "Executable": "argosy.pilot.executable",
    "Future": "argosy.pilot.future",
    "Pilot": "argosy.pilot.pilot",
}

__all__ = ["Executable", "Future", "Pilot", "errors"]

if TYPE_CHECKING:
    from argosy import errors
    from argosy.pilot.executable import Executable
    from argosy.pilot.future import Future
    from argosy.pilot.pilot import Pilot


def __getattr__(name: str) -> Any:
    if name == "errors":
        return import_module("argosy.errors")
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'argosy' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF])
