"""One expression of the source that may be computed in tiles."""

import ast
from collections.abc import Sequence

import numpy as np

from argosy.tree.tiles.corners import is_known, value_of
from argosy.tree.tiles.cut import Cut
from argosy.tree.tiles.parse import CannotCut, LookUp, Parser
from argosy.tree.tiles.parts import Apply, Global, Part, Reduce, Variable, View
from argosy.tree.tiles.plan import DEFAULT_LIMITS, Limits, Plan, plan
from argosy.tree.tiles.shapes import is_leaf

_MAX_PLANS = 64
_NOT_THERE = object()  # the value of a part that has to be computed


class Site:
    """An expression and the ways to cut it found so far: one for all arrays of the same shapes, strides and dtypes."""

    def __init__(self, parts: Sequence[Part], names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._parts = tuple(parts)
        self._leaf_views = tuple(
            (place, part) for place, part in enumerate(parts) if isinstance(part, View) and is_leaf(parts, place)
        )
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
            leaves = [self._leaf(part, values) for part in self._parts]
            if not all(leaf is _NOT_THERE or is_known(leaf) for leaf in leaves):
                return None
            key = (threads, limits, *map(_signature, leaves))
            for place, part in self._leaf_views:
                leaves[place] = value_of(part, leaves)
            if key not in self._plans:
                self._remember(key, None)
                self._remember(key, plan(self._parts, leaves, threads, limits))
            found = self._plans[key]
            return None if found is None else Cut(self._parts, leaves, found)
        except Exception:  # whatever it is, the expression computed whole raises or warns in its turn
            return None

    def _leaf(self, part: Part, values: Sequence[object]) -> object:
        match part:
            case Variable(place=place):
                return values[place]
            case Global(get=get):
                return get()
        return _NOT_THERE

    def _remember(self, key: tuple[object, ...], found: Plan | None) -> None:
        if len(self._plans) >= _MAX_PLANS:
            self._plans.clear()
        self._plans[key] = found


def _signature(leaf: object) -> object:
    """What a plan depends on."""
    return (leaf.shape, leaf.strides, leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)
