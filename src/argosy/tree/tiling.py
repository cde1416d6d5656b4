"""Statements whose value is a big elementwise NumPy expression: computed in tiles when that was seen to be faster."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from time import perf_counter
from types import ModuleType
from typing import Any

from argosy.tree.grain import Choice, Grain
from argosy.tree.inside import here
from argosy.tree.kinds import nbytes_of
from argosy.tree.pool import Pool
from argosy.tree.replaced import replaced
from argosy.tree.share import Shared
from argosy.tree.tiles import Cut, Limits, Site

WORTH_SECONDS = 300e-6
"""What takes less is not looked at."""
LIMITS = Limits()
_WHOLE = "__argosy_whole__"


class Tiling:
    """One piece, whole or in tiles: both ways are measured, and the faster one is kept."""

    only_if_long = True

    def __init__(self, piece: Any, site: Site, finish: Callable[..., Any]) -> None:
        self.piece = piece
        self._site = site
        self._places = [piece.inputs.index(name) for name in site.names]
        self._finish = finish
        self._choice = Choice()

    def runner(self, plan: Any, pool: Pool, grain: Grain) -> Callable[..., Any] | None:  # noqa: ARG002
        if plan.seconds is not None and plan.seconds < WORTH_SECONDS:
            return None
        return lambda *values: self._run(values, pool)

    def _run(self, values: tuple[Any, ...], pool: Pool) -> Any:
        nbytes = sum(nbytes_of(values[place]) for place in self._places) or 1
        in_tiles = self._choice.in_parts()
        helped, started = here.helped, perf_counter()
        result = self._in_tiles(values, pool) if in_tiles else None
        if result is None:
            result = (self.piece.function()(*values),)
        seconds = perf_counter() - started
        saved = self._choice.saved(nbytes, seconds) if in_tiles else None
        if saved is not None:
            here.helped = helped + saved  # by the cache too, not only by threads
        self._choice.took(in_tiles, seconds / nbytes)
        return result[0]

    def _in_tiles(self, values: tuple[Any, ...], pool: Pool) -> tuple[Any] | None:
        """The result, in a tuple; None when it is not to be cut, or something went wrong in a tile."""
        cut = self._site.cut([values[place] for place in self._places], pool.num_threads + 1, LIMITS)
        if cut is None or not _computed(cut, pool):
            return None
        return (self._finish(*values, cut.result()),)


def _computed(cut: Cut, pool: Pool) -> bool:
    shared = Shared(cut.num_tiles, cut.compute)
    shared.run(pool)
    return shared.error is None


def tiling_of(piece: Any) -> Tiling | None:
    part = piece.part
    if piece.role not in ("simple", "value"):
        return None
    if piece.is_value:
        value = part
    elif isinstance(part[0], (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        value = part[0].value
    else:
        return None
    if value is None or not isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Call, ast.Compare)):
        return None
    site = Site.of(value, _looking_up(piece.source))
    if site is None:
        return None
    whole = ast.copy_location(ast.Name(_WHOLE, ast.Load()), value)
    body = [replaced(statement, value, whole) for statement in piece.body()]
    return Tiling(piece, site, piece.source.make([*piece.inputs, _WHOLE], body))


def _looking_up(source: Any) -> Callable[[str], object]:
    def look_up(dotted: str) -> object:
        first, *rest = dotted.split(".")
        if first in source.local_names:
            raise KeyError(first)
        if first in source.cells:
            value = source.cells[first].cell_contents
        elif first in source.function.__globals__:
            value = source.function.__globals__[first]
        else:
            value = vars(builtins)[first]
        for name in rest:
            value = vars(value)[name] if type(value) is ModuleType else getattr(value, name)
        return value

    return look_up
