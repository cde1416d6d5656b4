"""What an expression is made of: its parts, in the order in which Python computes them.

Each part names its operands by their place in that order; every part but the last is an operand of exactly one other.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from argosy.tree.tiles.functions import Reduction
from argosy.tree.tiles.view import Basic


@dataclass(frozen=True, kw_only=True, slots=True)
class Variable:
    """A local variable; `place` says which of the site's names it is."""

    place: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Global:
    """A global's value or a module's attribute; `get` is called for each cut, since a global may be rebound."""

    get: Callable[[], object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Literal:
    """A number that stands in the source."""

    value: object


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """Some of the operand's elements, where they are: `x[1:-1, None]` or `x.T`."""

    operand: int
    index: Basic | None
    """None: all axes in reverse order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Apply:
    """An elementwise function of operands that broadcast against one another."""

    operands: tuple[int, ...]
    call: Callable[..., Any]
    """As the source has it: `operator.add` for `+`."""
    ufunc: np.ufunc | None = None
    """The same function of arrays where it has an `out`."""
    is_operator: bool = False
    """NumPy may compute an operator in the memory of an operand that nobody else needs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reduce:
    """One number for all those along some axes."""

    operand: int
    call: Reduction


@dataclass(frozen=True, kw_only=True, slots=True)
class Product:
    """A matrix product. Its bits depend on the whole, so it is never cut itself."""

    operands: tuple[int, int]
    call: Callable[[Any, Any], Any]


Part: TypeAlias = Variable | Global | Literal | View | Apply | Reduce | Product


def operands_of(part: Part) -> tuple[int, ...]:
    match part:
        case Apply(operands=operands) | Product(operands=operands):
            return operands
        case View(operand=operand) | Reduce(operand=operand):
            return (operand,)
        case _:
            return ()
