"""Whether to move both sides of a join or to copy the small one to all ranks."""

from __future__ import annotations

from typing import Literal

from argosy.frame.plan import JoinHow

MAX_BROADCAST_NBYTES = 64 << 20
"""What every rank can be asked to hold beside its own rows."""
_RIGHT_MAY_BE_COPIED: frozenset[JoinHow] = frozenset(["inner", "left", "semi", "anti", "cross"])
_LEFT_MAY_BE_COPIED: frozenset[JoinHow] = frozenset(["inner", "right", "cross"])


def cheapest_algorithm(
    how: JoinHow, left_nbytes: float, right_nbytes: float, num_ranks: int
) -> Literal["hash", "broadcast"]:
    """The one that moves fewer bytes."""
    if how == "cross":
        return "broadcast"
    return "hash" if side_to_copy(how, left_nbytes, right_nbytes, num_ranks) is None else "broadcast"


def side_to_copy(
    how: JoinHow, left_nbytes: float, right_nbytes: float, num_ranks: int, always: bool = False
) -> Literal["left", "right"] | None:
    """The side to send to every rank; None when moving both by hash costs less, unless `always`.

        hash        (left + right) x (ranks - 1) / ranks
        broadcast   small x (ranks - 1)

    A side may be copied only when none of its rows has to appear by itself, for every rank would add it.
    """
    sides: list[tuple[float, Literal["left", "right"]]] = []
    if how in _RIGHT_MAY_BE_COPIED:
        sides.append((right_nbytes, "right"))
    if how in _LEFT_MAY_BE_COPIED:
        sides.append((left_nbytes, "left"))
    if num_ranks == 1 or not sides:
        return None
    nbytes, side = min(sides)
    is_cheaper = nbytes <= MAX_BROADCAST_NBYTES and nbytes * num_ranks < left_nbytes + right_nbytes
    return side if always or is_cheaper else None
