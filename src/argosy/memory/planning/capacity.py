"""How much fast memory there is, what must be in it, and what is left to choose."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from argosy import arguments
from argosy.errors import CapacityTooSmall, UnknownObject
from argosy.memory.costs import Costs
from argosy.units import format_nbytes, parse_nbytes


def parse_capacity(capacity: int | str, total_nbytes: int) -> int:
    """Bytes: a number, `"8GiB"`, or `"25%"` of all objects together."""
    text = capacity.strip() if isinstance(capacity, str) else ""
    if text.endswith("%"):
        try:
            share = float(text[:-1])
        except ValueError:
            share = -1.0
        if not 0 <= share < float("inf"):
            said = arguments.show(capacity)
            raise ValueError(f"capacity is not a share of the objects' bytes: {said}; write it like '25%'")
        return int(total_nbytes * share / 100)
    return parse_nbytes(capacity, "capacity")


def columns_of(names: Iterable[str], objects: tuple[str, ...]) -> NDArray[np.bool_]:
    """[objects]: is it one of these? Raises `UnknownObject` for a name that is none."""
    chosen = np.zeros(len(objects), dtype=np.bool_)
    for name in arguments.items("must_be_fast", names, "a list of names of objects"):
        arguments.text("must_be_fast", name, "a list of names of objects")
        if name not in objects:
            raise UnknownObject(name, objects)
        chosen[objects.index(name)] = True
    return chosen


def check_fits(costs: Costs, must: NDArray[np.bool_], capacity: int) -> int:
    """The bytes that are left when everything that must be fast is. Raises `CapacityTooSmall`."""
    needed = {name: size for name, size, is_one in zip(costs.objects, costs.sizes, must, strict=True) if is_one}
    least = sum(needed.values())
    if least > capacity:
        largest = max(needed, key=needed.__getitem__)
        many = len(needed) > 1
        what = f"{len(needed)} objects must be fast and have" if many else f"{largest!r} must be fast and has"
        more = f" ({largest!r} alone has {format_nbytes(needed[largest])})" if many else ""
        raise CapacityTooSmall(
            f"{what} {format_nbytes(least)}{more}, but the capacity is {format_nbytes(capacity)}; "
            f"give at least {least} bytes, or let fewer objects be fast",
            least_nbytes=least,
        )
    return capacity - least


def without(costs: Costs, settled: NDArray[np.bool_], *, slow: bool = False) -> Costs:
    """The costs of the other objects, while these are fast, or slow."""
    others = np.flatnonzero(~settled)
    return Costs(
        objects=tuple(costs.objects[o] for o in others),
        sizes=tuple(costs.sizes[o] for o in others),
        windows=costs.windows,
        order=costs.order,
        floor=costs.floor,
        base=costs.base + costs.slow[:, settled].sum(axis=1) if slow else costs.base,
        slow=costs.slow[:, others],
    )
