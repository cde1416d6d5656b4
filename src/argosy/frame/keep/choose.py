"""Which columns are worth their room in RAM: pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from argosy.frame.keep.speeds import Speeds
from argosy.memory.costs import Costs


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    nbytes: int
    uses: int
    """Operations that read it so far; one that nobody has read yet counts as one."""
    in_ram: bool


def choose(candidates: Sequence[Candidate], capacity: int, speeds: Speeds) -> list[bool]:
    """For each, whether it is to be in RAM. The uses so far are taken to come again, so that leaving a column out costs

        uses * nbytes * extra_seconds_per_byte    and    + nbytes * evict   where it is in RAM now,
                                                         - nbytes * fetch   where it is on disk now,

    and a column changes its place only where that pays for the move. What is there stays where nothing is better.
    """
    from argosy.memory.planning.solve import plan

    if not candidates:
        return []
    moves = speeds.moves
    worth = [
        one.nbytes * max(one.uses, 1) * speeds.extra_seconds_per_byte
        + one.nbytes * (moves.evict_seconds_per_byte if one.in_ram else -moves.fetch_seconds_per_byte)
        for one in candidates
    ]
    names = tuple(map(str, range(len(candidates))))
    costs = Costs(
        objects=names,
        sizes=tuple(one.nbytes for one in candidates),
        windows=("the uses so far, again",),
        order=(0,),
        floor=np.full(1, -np.inf),
        base=np.zeros(1),
        slow=np.array([worth], dtype=np.float64),
    )
    placement = plan(costs, max(capacity, 0), solver="greedy").placement
    chosen = [placement[name] == "fast" for name in names]
    now = [one.in_ram for one in candidates]
    fits = sum(one.nbytes for one in candidates if one.in_ram) <= capacity
    seconds = costs.total(~np.array([now, chosen], dtype=np.bool_))
    return now if fits and seconds[0] <= seconds[1] else chosen
