"""One expression of the source that may be computed in tiles."""

import ast
from collections.abc import Sequence

import numpy as np

from argosy.tree.tiles.corners import is_known, value_of
from argosy.tree.tiles.cut import Cut
from argosy.tree.tiles.parse import CannotCut, LookUp, Parser
from argosy.tree.tiles.parts import Apply, Global, Literal, Part, Product, Reduce, Variable, View, operands_of
from argosy.tree.tiles.plan import DEFAULT_LIMITS, NBYTES_PER_ELEMENT, Limits, Plan, plan
from argosy.tree.tiles.shapes import is_leaf

_MAX_PLANS = 64


class Site:
    """An expression and the ways to cut it found so far: one for all arrays of the same shapes, strides and dtypes."""

    def __init__(self, parts: Sequence[Part], names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._parts = tuple(parts)
        self._literals = [part.value if isinstance(part, Literal) else None for part in parts]
        self._variables = tuple((place, part.place) for place, part in enumerate(parts) if isinstance(part, Variable))
        self._globals = tuple((place, part.get) for place, part in enumerate(parts) if isinstance(part, Global))
        self._given = tuple(p for p, part in enumerate(parts) if isinstance(part, Variable | Global | Literal))
        self._views = tuple((p, part) for p, part in enumerate(parts) if isinstance(part, View) and is_leaf(parts, p))
        self._factors = _factors(parts)
        self._plans: dict[tuple[object, ...], Plan | None] = {}

    @classmethod
    def of(cls, expression: ast.expr, look_up: LookUp) -> "Site | None":
        """None when it cannot be cut, whatever the arrays are.

        `look_up` gives the object that a global or builtin dotted name stands for, and raises KeyError for a local
        variable. Functions are looked up now, globals that are data for each cut.
        """
        parser = Parser(look_up)
        try:
            parser.add(expression)
        except (CannotCut, AttributeError, KeyError):
            return None
        root: Part | None = parser.parts[-1]
        while isinstance(root, View):
            root = parser.parts[root.operand]
        if not isinstance(root, Apply | Reduce) or not parser.names:
            return None
        return cls(parser.parts, parser.names)

    def cut(self, values: Sequence[object], threads: int, limits: Limits = DEFAULT_LIMITS) -> Cut | None:
        """None when it is better computed whole: too small, of another type, or not known to have the same bits.

        `values` are those of `names`. Costs a few microseconds for arrays like earlier ones, else up to a millisecond
        (once per process and function some more, to see whether it has the same bits in tiles).
        """
        try:
            leaves = self._literals.copy()
            for place, name in self._variables:
                leaves[place] = values[name]
            for place, get in self._globals:
                leaves[place] = get()
            if self._most(leaves) * NBYTES_PER_ELEMENT * len(leaves) < limits.min_nbytes:
                return None
            given = [leaves[place] for place in self._given]
            if not all(map(is_known, given)):
                return None
            key = (threads, limits, *map(_signature, given))
            for place, view in self._views:
                leaves[place] = value_of(view, leaves)
            if key not in self._plans:
                self._remember(key, None)
                self._remember(key, plan(self._parts, leaves, threads, limits))
            found = self._plans[key]
            return None if found is None else Cut(self._parts, leaves, found)
        except Exception:  # whatever it is, the expression computed whole raises or warns in its turn
            return None

    def _most(self, leaves: Sequence[object]) -> int:
        """No part has more elements than this: a bound that costs next to nothing."""
        most = 1
        for place in self._factors:
            leaf = leaves[place]
            if type(leaf) is np.ndarray and leaf.size:
                most *= leaf.size
        return most

    def _remember(self, key: tuple[object, ...], found: Plan | None) -> None:
        if len(self._plans) >= _MAX_PLANS:
            self._plans.clear()
        self._plans[key] = found


def _signature(leaf: object) -> object:
    """What a plan depends on."""
    return (leaf.shape, leaf.strides, leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)


def _factors(parts: Sequence[Part]) -> tuple[int, ...]:
    """Leaves the product of whose sizes bounds that of any part.

    An array that stands in an expression several times with its axes in the same places counts once.
    """
    moved = [False] * len(parts)
    for place in reversed(range(len(parts))):
        for operand in operands_of(parts[place]):
            moved[operand] = moved[place] or _moves_axes(parts[place])
    factors: list[int] = []
    met: set[int] = set()
    for place, part in enumerate(parts):
        if isinstance(part, Global) or (isinstance(part, Variable) and (moved[place] or part.place not in met)):
            factors.append(place)
        if isinstance(part, Variable) and not moved[place]:
            met.add(part.place)
    return tuple(factors)


def _moves_axes(part: Part) -> bool:
    match part:
        case View(index=index):
            return index is None or not all(isinstance(item, slice) for item in index)
        case Reduce(call=call):
            return not call.keepdims
    return isinstance(part, Product)
