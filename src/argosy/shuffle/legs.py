"""How an exchange is cut into legs: what is sent and what is received at once, in an order that never locks up.

In leg (k, d) every rank sends its k-th piece to the rank d places on, and receives that of the rank d places back. All
ranks go through the legs in this order, and skip those in which they neither send nor receive: so of all legs that are
not done, the first one is under way on both of its sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from argosy.shuffle.holdings import Ids

_LARGEST_NBYTES = 8 << 20
"""What is sent at once: as fast as any larger piece, and small beside what is exchanged."""
_SMALLEST_NBYTES = 1 << 16
_PIECES = 64
"""A small exchange is still cut into about so many pieces, to be spread over the epoch."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """Samples `first` to `last` of those sent, or received, in the order of `Moves`."""

    peer: int
    first: int
    last: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Leg:
    out: Piece | None
    into: Piece | None


def legs_of(
    rank: int, num_ranks: int, *, sent_to: Ids, sent_sizes: Ids, received_from: Ids, received_sizes: Ids
) -> list[Leg]:
    out = _pieces(sent_to, sent_sizes, num_ranks)
    into = _pieces(received_from, received_sizes, num_ranks)
    found: dict[tuple[int, int], list[Piece | None]] = {}
    for peer, pieces in out.items():
        for k, piece in enumerate(pieces):
            found.setdefault((k, (peer - rank) % num_ranks), [None, None])[0] = piece
    for peer, pieces in into.items():
        for k, piece in enumerate(pieces):
            found.setdefault((k, (rank - peer) % num_ranks), [None, None])[1] = piece
    return [Leg(*found[at]) for at in sorted(found)]


def _pieces(peers: Ids, sizes: Ids, num_ranks: int) -> dict[int, list[Piece]]:
    """For each peer, whose samples follow one another."""
    found = {}
    for first, last, peer in runs_of(peers):
        ends = np.cumsum(sizes[first:last])
        most = min(max(int(ends[-1]) * num_ranks // _PIECES, _SMALLEST_NBYTES), _LARGEST_NBYTES)
        found[peer] = _cut(peer, first, ends, most)
    return found


def _cut(peer: int, first: int, ends: Ids, most: int) -> list[Piece]:
    """Before each sample with which a piece would have more than `most` bytes: on both of its sides in the same place,
    as they know the same sizes."""
    pieces = []
    begin = before = 0
    while begin < len(ends):
        end = max(int(np.searchsorted(ends, before + most, side="right")), begin + 1)
        nbytes = int(ends[end - 1]) - before
        pieces.append(Piece(peer=peer, first=first + begin, last=first + end, nbytes=nbytes))
        begin, before = end, before + nbytes
    return pieces


def runs_of(peers: Ids) -> list[tuple[int, int, int]]:
    """Begin, end and value of each run of equal numbers."""
    ends = np.flatnonzero(np.diff(peers)) + 1
    bounds = [0, *ends.tolist(), len(peers)]
    return [(begin, end, int(peers[begin])) for begin, end in pairwise(bounds) if begin < end]
