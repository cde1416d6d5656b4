"""Whether a need can ever be met, and if not, why: in words."""

from __future__ import annotations

from argosy import arguments
from argosy.pilot.capacity import Capacity
from argosy.pilot.protocol import NeverFits
from argosy.pilot.shape import shape_of
from argosy.resources import Need
from argosy.units import format_nbytes


def never_fits(capacity: Capacity, need: Need) -> NeverFits | None:
    """Why the need cannot be met even when nothing else runs. Ranks that may come count; linear in the nodes."""
    living = sum(capacity.living_ranks)
    if need.ranks > living:
        return NeverFits(_count(need.ranks, "rank"), _count(living, "rank"))
    nodes = [node for node, ranks in zip(capacity.allocation.nodes, capacity.living_ranks, strict=True) if ranks]
    cores, gpus, nbytes = (max(getattr(node, what) for node in nodes) for what in ("cores", "gpus", "nbytes"))
    if need.cores_per_rank > cores:
        return NeverFits(f"{_count(need.cores_per_rank, 'core')} for one rank", f"at most {cores} on a node")
    if need.gpus_per_rank > gpus:
        there = f"at most {gpus} on a node" if gpus else "none"
        return NeverFits(f"{_count(need.gpus_per_rank, 'GPU')} for one rank", there)
    if need.nbytes_per_rank > nbytes:
        there = f"at most {format_nbytes(nbytes)} on a node"
        return NeverFits(f"{format_nbytes(need.nbytes_per_rank)} of memory for one rank", there)
    shape = shape_of(need)
    room = sum(capacity.most(node, shape) for node in range(len(capacity.living_ranks)))
    if room >= need.ranks:
        return None
    if room:
        return NeverFits(f"{_count(need.ranks, 'rank')} with {_words(need)} each", f"room for {room} such")
    return NeverFits(f"{_words(need)} for one rank", "no node with all of that")


def _words(need: Need) -> str:
    words = [_count(need.cores_per_rank, "core")]
    if need.gpus_per_rank:
        words.append(_count(need.gpus_per_rank, "GPU"))
    if need.nbytes_per_rank:
        words.append(f"{format_nbytes(need.nbytes_per_rank)} of memory")
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _count(number: float, what: str) -> str:
    words = f"{number:g}" if number < 2**53 else arguments.show(number)
    return f"{words} {what}" if number == 1 else f"{words} {what}s"
