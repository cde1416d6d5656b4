"""How an operation is done on arguments of given types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """What the arguments are cast to, the type of the result, and how to compute it.

    `run` gets chunked arrays and scalars of the types in `takes`, at least one of them a chunked array, and returns a
    chunked array of type `gives`.
    """

    takes: tuple[pa.DataType, ...]
    gives: pa.DataType
    run: Callable[..., Any]


class NoRule(Exception):
    """The operation has no meaning for these types; says what to do instead."""


Bind: TypeAlias = Callable[[Sequence[pa.DataType], tuple[Any, ...]], Rule]
"""From the types of the arguments and the options to the rule; raises NoRule."""


def named(*kinds: pa.DataType) -> str:
    return " and ".join(str(kind) for kind in kinds)
