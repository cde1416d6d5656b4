"""Argosy: prepare data and train models inside one allocation of machines.

`pilot` decides which task runs where. Above it lie `frame`, tables that are spread over ranks, `tree`, functions whose
statements run at the same time, and `train`, models that learn; beside it `shuffle`, the orders in which samples are
read, and `memory`, which byte lives where. Below it lie `comm` (ranks that move together) and plain data (`resources`,
`events`, `errors`, `units`, and `calls`, what a call does that others can see); on top `report` and `cli`, which people
look at. Importing this package loads none of them, nor MPI: each public name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME_OF = {
    "DataFrame": "argosy.frame.dataframe",
    "Executable": "argosy.pilot.executable",
    "Future": "argosy.pilot.future",
    "Pilot": "argosy.pilot.pilot",
    "col": "argosy.frame.expressions.nodes",
    "count": "argosy.frame.expressions.nodes",
    "from_arrow": "argosy.frame.convert",
    "from_pandas": "argosy.frame.convert",
    "from_pydict": "argosy.frame.convert",
    "futurize": "argosy.tree.futurize",
    "grad": "argosy.tree.grad.reverse",
    "lit": "argosy.frame.expressions.nodes",
    "read_csv": "argosy.frame.read",
    "read_ipc": "argosy.frame.read",
    "read_json": "argosy.frame.read",
    "read_parquet": "argosy.frame.read",
    "task": "argosy.tree.task",
    "when": "argosy.frame.expressions.nodes",
}
_MODULES = ("errors", "frame", "memory", "shuffle", "train")

__all__ = [
    "DataFrame", "Executable", "Future", "Pilot", "col", "count", "errors", "frame", "from_arrow", "from_pandas",
    "from_pydict", "futurize", "grad", "lit", "memory", "read_csv", "read_ipc", "read_json", "read_parquet", "shuffle",
    "task", "train", "when",
]  # fmt: skip

if TYPE_CHECKING:
    from argosy import errors, frame, memory, shuffle, train
    from argosy.frame.convert import from_arrow, from_pandas, from_pydict
    from argosy.frame.dataframe import DataFrame
    from argosy.frame.expressions.nodes import col, count, lit, when
    from argosy.frame.read import read_csv, read_ipc, read_json, read_parquet
    from argosy.pilot.executable import Executable
    from argosy.pilot.future import Future
    from argosy.pilot.pilot import Pilot
    from argosy.tree.futurize import futurize
    from argosy.tree.grad.reverse import grad
    from argosy.tree.task import task


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"argosy.{name}")
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'argosy' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF, *_MODULES})
