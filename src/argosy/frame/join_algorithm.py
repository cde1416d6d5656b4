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
    """The one that moves fewer bytes.

        hash        (left + right) x (ranks - 1) / ranks
        broadcast   small x (ranks - 1)

    A side may be copied only when none of its rows has to appear by itself, for every rank would add it.
    """
    if how == "cross":
        return "broadcast"
    copied = []
    if how in _RIGHT_MAY_BE_COPIED:
        copied.append(right_nbytes)
    if how in _LEFT_MAY_BE_COPIED:
        copied.append(left_nbytes)
    if num_ranks == 1 or not copied or min(copied) > MAX_BROADCAST_NBYTES:
        return "hash"
    return "broadcast" if min(copied) * num_ranks < left_nbytes + right_nbytes else "hash"
