"""An expression computed whole and in tiles, and whether the two are the same."""

import ast
import builtins
import random
from collections.abc import Mapping

import numpy as np

from argosy.tree.tiles import Cut, Limits, Site

TINY = Limits(min_nbytes=0, tile_nbytes=256, rows_multiple=4, tiles_per_thread=1)
"""So that arrays of a few elements are cut."""

GLOBALS: dict[str, object] = {"np": np, **vars(builtins)}


def site_of(source: str, variables: Mapping[str, object], others: Mapping[str, object] | None = None) -> Site | None:
    """The site of an expression whose local variables are these; `others` are globals."""

    def look_up(dotted: str) -> object:
        first, *attributes = dotted.split(".")
        if first in variables:
            raise KeyError(first)
        found = others[first] if others and first in others else GLOBALS[first]
        for attribute in attributes:
            found = getattr(found, attribute)
        return found

    return Site.of(ast.parse(source, mode="eval").body, look_up)


def cut_of(source: str, variables: Mapping[str, object], limits: Limits = TINY, threads: int = 2) -> Cut | None:
    site = site_of(source, variables)
    return None if site is None else site.cut([variables[name] for name in site.names], threads, limits)


def whole_of(source: str, variables: Mapping[str, object]) -> object:
    return eval(compile(source, "whole", "eval"), {**GLOBALS, **variables})


def all_tiles(cut: Cut, seed: int = 0) -> object:
    """The result of a cut whose tiles are computed in some order."""
    tiles = list(range(cut.num_tiles))
    random.Random(seed).shuffle(tiles)
    for tile in tiles:
        cut.compute(tile)
    return cut.result()


def assert_same(tiled: object, whole: object) -> None:
    assert type(tiled) is type(whole) is np.ndarray
    assert (tiled.dtype, tiled.shape, tiled.strides) == (whole.dtype, whole.shape, whole.strides)
    assert tiled.flags.owndata == whole.flags.owndata
    assert tiled.tobytes() == whole.tobytes()


def is_cut_and_same(source: str, variables: Mapping[str, object], limits: Limits = TINY, threads: int = 2) -> bool:
    """Whether the expression is cut; fails if the tiles are not the whole."""
    with np.errstate(all="ignore"):
        cut = cut_of(source, variables, limits, threads)
        if cut is None:
            return False
        assert_same(all_tiles(cut), whole_of(source, variables))
    return True
