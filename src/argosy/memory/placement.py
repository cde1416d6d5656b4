"""Which object is in which of two tiers, as a dict for people and as rows of a matrix for arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from argosy.errors import UnknownObject

Placement: TypeAlias = Mapping[str, str]
"""Object name to tier name."""

Slow: TypeAlias = NDArray[np.bool_]
"""One row a placement, one column an object: is it in the slow tier?"""


def as_row(placement: Placement, objects: Sequence[str], *, fast: str, slow: str) -> Slow:
    """The placement as one row. Every object must be placed, in one of the two tiers."""
    tiers = [placement.get(name) for name in objects]
    if len(placement) == len(objects) and {fast, slow}.issuperset(tiers):
        return np.array([tier == slow for tier in tiers], dtype=np.bool_)
    for name in placement:
        if name not in objects:
            raise UnknownObject(name, objects)
    missing = [name for name in objects if name not in placement]
    if missing:
        raise ValueError(f"the placement does not say where {', '.join(missing)} should be; name every object")
    name, tier = next(item for item in placement.items() if item[1] not in (fast, slow))
    raise ValueError(f"{name!r} is placed in {tier!r}, but the tiers are {fast!r} and {slow!r}")


def as_placement(row: Iterable[bool], objects: Sequence[str], *, fast: str, slow: str) -> dict[str, str]:
    """The other way."""
    return {name: slow if is_slow else fast for name, is_slow in zip(objects, row, strict=True)}
