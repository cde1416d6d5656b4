"""Tables that are spread over ranks.

    dataframe, grouping, read, convert    what users write
    plan, expressions/, rewrite/          what is to be done: immutable, pure
    run, execute                          doing it, on the ranks of a pilot or here
    operators/, exchange, spill           what all ranks do together
    keep/                                 where the columns of persisted frames lie: in RAM, on disk
    kernels/                              what one rank computes over flat buffers
    io/                                   files

The operators are also there for tasks with a communicator of their own: `argosy.frame.join(left, right, on="k",
comm=comm)` and its siblings in `spmd`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from argosy.frame.agree import together
from argosy.frame.spmd import (
    concat,
    difference,
    group_by,
    intersect,
    join,
    repartition,
    sample,
    shuffle,
    sort,
    union,
    unique,
)

if TYPE_CHECKING:
    from argosy.frame.dataframe import DataFrame

__all__ = [
    "DataFrame",
    "concat",
    "difference",
    "group_by",
    "intersect",
    "join",
    "repartition",
    "sample",
    "shuffle",
    "sort",
    "together",
    "union",
    "unique",
]


def __getattr__(name: str) -> Any:
    if name == "DataFrame":
        return import_module("argosy.frame.dataframe").DataFrame
    raise AttributeError(f"module 'argosy.frame' has no attribute {name!r}")
